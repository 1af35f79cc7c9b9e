// The catalogue of the application: the agreed sentences to the letter, values filled in.

import { expect, test } from "vitest";
import { textOf } from "../../../../services/text/text.ts";

test("the two agreed sentences, word for word", () => {
  const ko = textOf("ko");
  expect(ko("turn.cut")).toBe("서버 작업이 중단되어 답변하지 못했습니다. 잠시 후 다시 시도해주세요.");
  expect(ko("turn.unclaimed")).toBe("서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.");
});

test("values are filled in", () => {
  expect(textOf("en")("turn.limit", { minutes: 30 })).toContain("30 minutes");
});
