import { expect, test } from "vitest";
import { failureOfCode } from "../../../../services/web/pages/core/attached.ts";
import { mayEnterSend } from "../../../../services/web/pages/core/ime.ts";
import { isTooLong, QUESTION_LIMIT, questionOf } from "../../../../services/web/pages/core/question.ts";
import { refusedBeforehand } from "../../../../services/web/pages/work/recording-check.ts";

test.each([
  ["  a question \n", "a question"],
  ["a\u0000b", "ab"],
  ["half \ud800", "half \ufffd"],
  ["\u0000", ""],
  [" \u200b\u0007\ufeff ", ""],
  ["가", "가"],
])("%j is asked as %j", (typed, asked) => {
  expect(questionOf(typed)).toBe(asked);
});

test("a paste is too long by what the question would be with it", () => {
  expect(isTooLong(0, 0, QUESTION_LIMIT)).toBe(false);
  expect(isTooLong(1, 0, QUESTION_LIMIT)).toBe(true);
  expect(isTooLong(QUESTION_LIMIT, 10, 10)).toBe(false);
});

test("on a touch keyboard Enter is a new line", () => {
  const enter = { key: "Enter", keyCode: 13, isComposing: false, shiftKey: false, altKey: false, composing: false };
  expect(mayEnterSend(enter)).toBe(true);
  expect(mayEnterSend(enter, true)).toBe(false);
});

test("an encoding that does not fit is told apart from a file that is no text", () => {
  expect(failureOfCode("attachment.encoding", 422)).toBe("encoding");
  expect(failureOfCode("attachment.type", 415)).toBe("type");
});

const wav = () => {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  return head;
};

test.each([
  ["nothing", Buffer.alloc(0), "empty"],
  ["words", Buffer.from("이것은 글입니다. ".repeat(50)), "type"],
  [
    "a picture",
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52]),
    "type",
  ],
  ["a recording", wav(), null],
] as const)("of %s it is said before it is sent", async (_what, bytes, refused) => {
  expect(await refusedBeforehand(new Blob([bytes]))).toBe(refused);
});
