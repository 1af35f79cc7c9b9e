// The catalogues: the agreed sentences to the letter, no key missing, the same marks in both languages.

import { expect, test } from "vitest";
import { catalogues, type TextKey, textOf } from "../../../../services/text/text.ts";

test("the two agreed sentences, word for word", () => {
  const ko = textOf("ko");
  expect(ko("turn.cut")).toBe("서버 작업이 중단되어 답변하지 못했습니다. 잠시 후 다시 시도해주세요.");
  expect(ko("turn.unclaimed")).toBe("서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.");
});

test("both catalogues have the same keys, none empty, with the same marks", () => {
  const { ko, en } = catalogues;
  expect(Object.keys(ko).sort()).toEqual(Object.keys(en).sort());
  const marks = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
  for (const key of Object.keys(en) as TextKey[]) {
    expect(ko[key].trim(), key).not.toBe("");
    expect(marks(ko[key]), key).toEqual(marks(en[key]));
  }
});

test("marks are filled; one without a value stays visible", () => {
  expect(textOf("en")("turn.limit", { minutes: 30 })).toContain("30 minutes");
  expect(textOf("en")("turn.limit")).toContain("{minutes}");
});
