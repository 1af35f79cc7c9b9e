// No pattern's cost grows faster than its text; and the rule itself on patterns it must refuse and let pass.

import { expect, test } from "vitest";
import { worstGrowth } from "../../support/rules/pattern-cost.ts";
import { costlyPatterns, MAY_BE_BUILT, MAY_COST_MORE, patternsOf } from "../../support/rules/pattern-rule.ts";
import { sources } from "../../support/rules/sources.ts";

test("every pattern in the sources costs at most double for a text twice as long", () => {
  expect(sources().flatMap(costlyPatterns)).toEqual([]);
}, 120_000);

test("every exception is still there", () => {
  const all = new Set(
    sources().flatMap((one) => {
      const { read, built } = patternsOf(one);
      return [...read.map(({ source }) => source), ...built].map((text) => `${one.path} ${text}`);
    }),
  );
  expect([...Object.keys(MAY_COST_MORE), ...Object.keys(MAY_BE_BUILT)].filter((one) => !all.has(one))).toEqual([]);
}, 60_000);

test("it sees what RegExp is given: a text, a template with its gaps, and what it cannot judge", () => {
  const text = "new RegExp('(a+)+$', 'g'); RegExp(`(b+)+${name}$`); new RegExp(given);";
  expect(patternsOf({ path: "a.ts", text })).toEqual({
    read: [
      { source: "(a+)+$", flags: "g" },
      { source: "(b+)+name$", flags: "" },
    ],
    built: ["given"],
  });
  expect(costlyPatterns({ path: "a.ts", text })).toHaveLength(3);
});

test.each([
  [/\$\{([^}]*)\}/g],
  [/(a+)+$/],
  [/\s+$/],
  [/[^.]*\.$/],
  [/^(\w+\s?)*$/],
  [/["']?(.+?)["']?\s*(?:을|를)?\s*검색/],
  [/([\p{L}_][\p{L}\p{N}_]*)\s*(?:구조|컬럼)/u],
  [/^\d+\.?\d*$/],
  [/\[[^\]]*$/],
])("it refuses %s", (pattern) => {
  expect(worstGrowth(pattern.source, pattern.flags)).not.toBeNull();
});

test.each([
  [/^[A-Za-z][A-Za-z0-9_-]{0,63}$/],
  [/\s+/g],
  [/;\s*$/],
  [/\.[^.]+$/],
  [/^steps\.([A-Za-z][A-Za-z0-9_-]{0,63})\.output((?:\.[A-Za-z0-9_-]+|\[\d+\])*)$/],
  [/-\d+$/],
  [/^bytes=(\d*)-(\d*)$/],
])("it lets pass %s", (pattern) => {
  expect(worstGrowth(pattern.source, pattern.flags)).toBeNull();
});
