// Time and chance come through Clock and Random only: what is forbidden in sources, and the few files that may.

import { codeOnly, type Source } from "./sources.ts";

/** The adapters, and code that runs where config/time.ts cannot reach: before installation, in a browser. */
export const MAY_TOUCH_TIME: readonly RegExp[] = [
  /^config\/system-time\.ts$/,
  /^ctl\/bootstrap(\/|\.mjs$)/,
  /^services\/web\/(pages|browser)\//,
];

const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  ["Date.now", /\bDate\s*\.\s*now\b/],
  ["new Date without an argument", /\bnew\s+Date\s*(?:\(\s*\)|(?![\w(\s]))/],
  ["Date() as a function", /(?<![\w.]|new\s)\bDate\s*\(/],
  ["setTimeout", /(?<![\w.])setTimeout\b|\bglobalThis\s*\.\s*setTimeout\b/],
  ["setInterval", /(?<![\w.])setInterval\b|\bglobalThis\s*\.\s*setInterval\b/],
  ["Math.random", /\bMath\s*\.\s*random\b/],
  ["performance.now", /\bperformance\s*\.\s*now\b/],
  ["process.hrtime", /\bprocess\s*\.\s*hrtime\b/],
];
const FORBIDDEN_IMPORT = /from\s+["']node:timers(?:\/promises)?["']/;

/** Sentences for every use of the machine's own time or chance in `source`. */
export function timeAndChance(source: Source): string[] {
  if (MAY_TOUCH_TIME.some((allowed) => allowed.test(source.path))) return [];
  const complaints: string[] = [];
  if (FORBIDDEN_IMPORT.test(source.text)) complaints.push(`${source.path}: node:timers (use Clock)`);
  for (const [index, line] of codeOnly(source.text).split("\n").entries()) {
    for (const [what, pattern] of FORBIDDEN)
      if (pattern.test(line)) complaints.push(`${source.path}:${index + 1}: ${what} (use Clock or Random)`);
  }
  return complaints;
}
