// How many steps a piece of code takes, the same on every machine: how often each of its blocks is entered (V8 counts
// that), and how many characters the built-in searches look at on its behalf.

import { Session } from "node:inspector/promises";

interface Patched {
  readonly name: string;
  /** Characters looked at, by the text, what was searched for, and what came out. */
  cost(text: string, args: readonly unknown[], found: unknown): number;
}

const wholeText = (text: string): number => text.length;
const from = (args: readonly unknown[]): number => Math.max(0, Number(args[1] ?? 0));
const untilFound = (text: string, args: readonly unknown[], found: unknown): number =>
  (Number(found) === -1 ? text.length : Number(found)) - from(args);

const TEXT_METHODS: readonly Patched[] = [
  { name: "indexOf", cost: untilFound },
  {
    name: "lastIndexOf",
    cost: (text, args, found) => Math.min(text.length, Number(args[1] ?? text.length)) - Number(found),
  },
  { name: "includes", cost: wholeText },
  ...["trim", "trimStart", "trimEnd", "normalize", "toLowerCase", "toUpperCase", "replaceAll", "isWellFormed"].map(
    (name) => ({ name, cost: wholeText }),
  ),
  { name: "toWellFormed", cost: wholeText },
  { name: "split", cost: wholeText },
];

// Switched on once and for all: a function that was compiled before has no counters for its blocks. So this file is to be
// loaded before what it counts is called.
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** How often blocks of the sources whose path holds `of` were entered since it was asked last. */
async function blocksOf(of: string): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes(of))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
    .reduce((sum, count) => sum + count, 0);
}

/** Counts the steps of `run` in the sources whose path holds `of`. */
export async function stepsOf(of: string, run: () => unknown): Promise<number> {
  let looked = 0;
  const undo: (() => void)[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: methods are put in place of others by their names.
  const patch = (owner: any, name: string, make: (original: (...args: unknown[]) => unknown) => unknown) => {
    const original = owner[name];
    owner[name] = make(original);
    undo.push(() => {
      owner[name] = original;
    });
  };
  await blocksOf(of);
  try {
    for (const { name, cost } of TEXT_METHODS)
      patch(
        String.prototype,
        name,
        (original) =>
          function (this: unknown, ...args: unknown[]) {
            const found = original.apply(this, args);
            looked += Math.max(0, cost(String(this), args, found));
            return found;
          },
      );
    patch(
      RegExp.prototype,
      "exec",
      (original) =>
        function (this: RegExp, ...args: unknown[]) {
          const start = this.global || this.sticky ? this.lastIndex : 0;
          const found = original.apply(this, args) as RegExpExecArray | null;
          // A sticky pattern looks at one place only.
          const end = found === null ? (this.sticky ? start : String(args[0]).length) : found.index + found[0].length;
          looked += Math.max(0, end - start);
          return found;
        },
    );
    run();
  } finally {
    for (const one of undo) one();
  }
  return looked + (await blocksOf(of));
}
