// Every catalogue has its sentences in both languages, and somebody says each of them.

import { expect, test } from "vitest";
import { en as ctlEn } from "../../../ctl/text/en.ts";
import { ko as ctlKo } from "../../../ctl/text/ko.ts";
import { en as servicesEn } from "../../../services/text/en.ts";
import { ko as servicesKo } from "../../../services/text/ko.ts";
import { en as pagesEn } from "../../../services/web/pages/text/en.ts";
import { ko as pagesKo } from "../../../services/web/pages/text/ko.ts";
import { en as owldEn } from "../../../supervisor/core/text/en.ts";
import { ko as owldKo } from "../../../supervisor/core/text/ko.ts";
import { leavesOf, speakers, unsaidKeys, unsaidPaths } from "../../support/rules/catalogue-rule.ts";

const { byCode: _wordedEn, ...ctlWords } = ctlEn;
const { byCode: _wordedKo, ...ctlWordsKo } = ctlKo;

const CATALOGUES = [
  ["ctl", ctlWords, ctlWordsKo, unsaidPaths],
  ["supervisor", owldEn, owldKo, unsaidPaths],
  ["services", servicesEn, servicesKo, unsaidKeys],
  ["services/web/pages", pagesEn, pagesKo, unsaidKeys],
] as const;

test.each(CATALOGUES)("%s has the same sentences in both languages, none of them empty", (_folder, en, ko) => {
  const paths = (catalogue: object) => leavesOf(catalogue).map(([path]) => path);
  expect(paths(ko).sort()).toEqual(paths(en).sort());
  const empty = [...leavesOf(en), ...leavesOf(ko)].filter(([, leaf]) => typeof leaf === "string" && leaf.trim() === "");
  expect(empty).toEqual([]);
});

test.each(CATALOGUES)("every sentence of %s is said somewhere", (folder, en, _ko, unsaid) => {
  expect(
    unsaid(
      leavesOf(en).map(([path]) => path),
      speakers(folder),
    ),
  ).toEqual([]);
});

test("a sentence nobody says is seen", () => {
  const said = "text.plan.done(); const { left } = text.plan; text.states[state]; t(`job.${kind}`)";
  const paths = ["plan.done", "plan.left", "plan.gone", "states.any"];
  expect(unsaidPaths(paths, said)).toEqual(["plan.gone"]);
  expect(unsaidKeys(["job.chat", "job", "jobs.chat"], said)).toEqual(["job", "jobs.chat"]);
});
