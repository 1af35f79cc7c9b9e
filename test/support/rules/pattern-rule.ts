// Linear cost: no pattern in the sources costs more than double for a text twice as long. Every pattern is held to it,
// whoever's text it reads: the next one to read a user's is not noticed otherwise.

import { parseSync } from "vite";
import { worstGrowth } from "./pattern-cost.ts";
import type { Source } from "./sources.ts";

/** By file and pattern: why it may be as it is. Each reads a text with a bound of its own. */
export const MAY_COST_MORE: Readonly<Record<string, string>> = {};

/** By file and what is given to `RegExp`: why a pattern that only running tells may be as it is. */
export const MAY_BE_BUILT: Readonly<Record<string, string>> = {
  "ctl/commands/logs.ts source": "the pattern of whoever calls owlctl, in their own process",
};

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

interface Node {
  readonly type?: string;
  readonly start: number;
  readonly end: number;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Node[];
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
}

/** Stands for whatever a template puts into a pattern: a name, escaped. */
const FILLED = "name";

/** The text of a literal or of a template, FILLED in each of its gaps; null: it is neither. */
function textOf(node: Node | undefined): string | null {
  if (node?.type === "TemplateLiteral") return (node.quasis ?? []).map(({ value }) => value.cooked).join(FILLED);
  return typeof node?.value === "string" ? node.value : null;
}

/** The patterns of a source, and what is given to `RegExp` where that tells no pattern. */
export function patternsOf({ path, text }: Source): {
  readonly read: readonly Pattern[];
  readonly built: readonly string[];
} {
  const read: Pattern[] = [];
  const built: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (node.regex) read.push({ source: node.regex.pattern, flags: node.regex.flags });
    if (/^(New|Call)Expression$/.test(node.type ?? "") && node.callee?.name === "RegExp") {
      const [pattern, flags] = node.arguments ?? [];
      const source = textOf(pattern);
      if (source !== null) read.push({ source, flags: textOf(flags) ?? "" });
      else if (pattern !== undefined) built.push(text.slice(pattern.start, pattern.end));
    }
    for (const one of Object.values(node)) walk(one);
  };
  walk(parseSync(path, text).program);
  return { read, built };
}

/** Sentences for every pattern of `source` whose cost is not linear. */
export function costlyPatterns(source: Source): string[] {
  const { read, built } = patternsOf(source);
  const unknown = built
    .filter((one) => !(`${source.path} ${one}` in MAY_BE_BUILT))
    .map((one) => `${source.path}: RegExp(${one}) can be judged by nobody; write its pattern down`);
  const costly = read.flatMap(({ source: pattern, flags }) => {
    if (`${source.path} ${pattern}` in MAY_COST_MORE) return [];
    const growth = worstGrowth(pattern, flags);
    if (growth === null) return [];
    return [
      `${source.path}: /${pattern}/${flags} costs ${growth.ratio.toFixed(1)} times as much for twice ${JSON.stringify(growth.text)}`,
    ];
  });
  return [...unknown, ...costly];
}
