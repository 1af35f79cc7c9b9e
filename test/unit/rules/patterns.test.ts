// No pattern's cost grows faster than its text; and the rule itself on patterns it must refuse and let pass.

import { expect, test } from "vitest";
import { worstGrowth } from "../../support/rules/pattern-cost.ts";
import { costlyPatterns, MAY_COST_MORE, patternsOf } from "../../support/rules/pattern-rule.ts";
import { sources } from "../../support/rules/sources.ts";

test("every pattern in the sources costs at most double for a text twice as long", () => {
  expect(sources().flatMap(costlyPatterns)).toEqual([]);
}, 120_000);

test("every exception is still there", () => {
  const all = new Set(sources().flatMap((one) => patternsOf(one).map(({ source }) => `${one.path} ${source}`)));
  expect(Object.keys(MAY_COST_MORE).filter((one) => !all.has(one))).toEqual([]);
}, 60_000);

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
