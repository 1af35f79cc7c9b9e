// Linear cost: no pattern in the sources costs more than double for a text twice as long. Every pattern is held to it,
// whoever's text it reads: the next one to read a user's is not noticed otherwise.

import { parseSync } from "vite";
import { worstGrowth } from "./pattern-cost.ts";
import type { Source } from "./sources.ts";

/** By file and pattern: why it may be as it is. Each reads a text with a bound of its own. */
export const MAY_COST_MORE: Readonly<Record<string, string>> = {
  "services/jobs/transcription/endpoint-engine.ts \\/+$": "an address of owl.yaml",
  "supervisor/preflight/endpoints.ts \\/+$": "an address of owl.yaml",
  "supervisor/core/wrapper-command.ts ^-[a-z]*c[a-z]*$": "one word of a command of owl.yaml",
  "services/web/pages/core/sort.ts ^[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?\\s?%?$":
    "one cell of a table, in the browser",
};

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The literal patterns of a source. What `new RegExp` builds is not seen here. */
export function patternsOf({ path, text }: Source): readonly Pattern[] {
  const found: Pattern[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { regex } = node as { regex?: { pattern: string; flags: string } };
    if (regex) found.push({ source: regex.pattern, flags: regex.flags });
    for (const one of Object.values(node)) walk(one);
  };
  walk(parseSync(path, text).program);
  return found;
}

/** Sentences for every pattern of `source` whose cost is not linear. */
export function costlyPatterns(source: Source): string[] {
  return patternsOf(source).flatMap(({ source: pattern, flags }) => {
    if (`${source.path} ${pattern}` in MAY_COST_MORE) return [];
    const growth = worstGrowth(pattern, flags);
    if (growth === null) return [];
    return [
      `${source.path}: /${pattern}/${flags} costs ${growth.ratio.toFixed(1)} times as much for twice ${JSON.stringify(growth.text)}`,
    ];
  });
}
