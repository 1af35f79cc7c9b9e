// A catalogue holds each sentence in both languages, and is read in one.

import { expect, test } from "vitest";
import { counted, numberText, sayOf, wordsIn } from "../../../config/text.ts";

const words = {
  done: ["Done.", "완료."],
  plan: {
    steps: (n: number) => [`${n} steps`, `${n}단계`],
    columns: [
      ["A", "B"],
      ["가", "나"],
    ],
  },
  refused: (name: string) => ({ sentence: [`No ${name}.`, `${name} 없음.`], next: ["Look.", "보세요."] }),
} as const;

test("one language of a catalogue is a catalogue of plain sentences", () => {
  const [en, ko] = [wordsIn(words, "en"), wordsIn(words, "ko")];
  expect([en.done, en.plan.steps(3), en.plan.columns]).toEqual(["Done.", "3 steps", ["A", "B"]]);
  expect([ko.done, ko.plan.steps(3), ko.plan.columns]).toEqual(["완료.", "3단계", ["가", "나"]]);
  expect(ko.refused("x")).toEqual({ sentence: "x 없음.", next: "보세요." });
});

test("a flat one is asked by key, in the language of the moment", () => {
  let language: "en" | "ko" = "en";
  const say = sayOf({ a: ["A", "가"], "b.c": (v: { n: number }) => [`${v.n} b`, `${v.n}나`] }, () => language);
  expect([say("a"), say("b.c", { n: 2 })]).toEqual(["A", "2 b"]);
  language = "ko";
  expect([say("a"), say("b.c", { n: 2 })]).toEqual(["가", "2나"]);
});

test("numbers are grouped, and one is one", () => {
  expect([counted(1, "row", "rows"), counted(1_200, "row", "rows")]).toEqual(["1 row", "1,200 rows"]);
  expect(numberText(0.25)).toBe("0.3");
});
