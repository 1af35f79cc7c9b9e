// Every catalogue says each of its sentences in both languages, and somebody says each of them.

import { expect, test } from "vitest";
import { words as ctl } from "../../../ctl/text/words.ts";
import { words as services } from "../../../services/text/words.ts";
import { words as pages } from "../../../services/web/pages/text/words.ts";
import { words as supervisor } from "../../../supervisor/core/text/words.ts";
import { leavesOf, speakers, unsaidKeys, unsaidPaths } from "../../support/rules/catalogue-rule.ts";

/** byCode is read by the code of an error. */
const { byCode: _, ...ctlWords } = ctl;
const CATALOGUES = [
  ["ctl", ctlWords, unsaidPaths],
  ["supervisor", supervisor, unsaidPaths],
  ["services", services, unsaidKeys],
  ["services/web/pages", pages, unsaidKeys],
] as const;

test.each(CATALOGUES)("every sentence of %s is said in both languages", (_folder, words) => {
  const leaves = leavesOf(words);
  expect(leaves.length).toBeGreaterThan(30);
  for (const [path, leaf] of leaves) {
    if (typeof leaf === "function") continue;
    expect(leaf, path).toHaveLength(2);
    for (const one of (leaf as readonly unknown[]).flat()) expect(one, path).toMatch(/\S/);
  }
});

test.each(CATALOGUES)("every sentence of %s is said somewhere", (folder, words, unsaid) => {
  const paths = leavesOf(words).map(([path]) => path);
  expect(unsaid(paths, speakers(folder))).toEqual([]);
});

test("a sentence nobody says is seen", () => {
  const said = "text.plan.done(); const { left } = text.plan; text.states[state]; t(`job.${kind}`)";
  const paths = ["plan.done", "plan.left", "plan.gone", "states.any"];
  expect(unsaidPaths(paths, said)).toEqual(["plan.gone"]);
  expect(unsaidKeys(["job.chat", "job", "jobs.chat"], said)).toEqual(["job", "jobs.chat"]);
});
