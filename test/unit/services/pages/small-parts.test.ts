import { expect, test } from "vitest";
import { costText } from "../../../../services/web/pages/core/cost-text.ts";
import { csvOf } from "../../../../services/web/pages/core/csv.ts";
import { clockText, durationText, etaRange, sizeText } from "../../../../services/web/pages/core/duration.ts";
import { mayEnterSend } from "../../../../services/web/pages/core/ime.ts";
import { isNumberColumn, sortedRows } from "../../../../services/web/pages/core/sort.ts";
import { placeOf } from "../../../../services/web/pages/routes.ts";
import { ownWords } from "../../../../services/web/pages/text/own-words.ts";

const ENTER = { key: "Enter", keyCode: 13, isComposing: false, shiftKey: false, altKey: false, composing: false };

test("a cost shows two digits that say something", () => {
  expect([0, 0.000_123_4, 0.056, 1.4, 12.345].map(costText)).toEqual(["0.00", "0.00012", "0.056", "1.40", "12.35"]);
});

test("Enter sends; Shift and Alt with it make a line", () => {
  expect(mayEnterSend(ENTER)).toBe(true);
  expect(mayEnterSend({ ...ENTER, shiftKey: true })).toBe(false);
  expect(mayEnterSend({ ...ENTER, altKey: true })).toBe(false);
  expect(mayEnterSend({ ...ENTER, key: "a" })).toBe(false);
});

test("an Enter of an input method never sends, whichever way the engine tells it", () => {
  expect(mayEnterSend({ ...ENTER, isComposing: true })).toBe(false);
  expect(mayEnterSend({ ...ENTER, keyCode: 229 })).toBe(false);
  expect(mayEnterSend({ ...ENTER, composing: true })).toBe(false);
});

test("time left is told only when it can be known, as a range that narrows, never negative", () => {
  const facts = { state: "running", finished: 10, progress: 0.5, etaSeconds: 100 };
  expect(etaRange(facts)).toEqual({ fromMs: 75_000, toMs: 125_000 });
  expect(etaRange({ ...facts, progress: 1 })).toEqual({ fromMs: 90_000, toMs: 110_000 });
  expect(etaRange({ ...facts, state: "paused" })).toBeNull();
  expect(etaRange({ ...facts, finished: 2, progress: 0.04 })).toBeNull();
  expect(etaRange({ ...facts, finished: 2, progress: 0.06 })).not.toBeNull();
  expect(etaRange({ ...facts, etaSeconds: Number.NaN })).toBeNull();
  expect(etaRange({ ...facts, etaSeconds: -5 })?.fromMs).toBe(0);
});

test("lengths, clocks and sizes read well in both languages", () => {
  expect(durationText(1_234, "en")).toBe("1.2 s");
  expect(durationText(84_000, "en")).toBe("1 min 24 s");
  expect(durationText(3_600_000, "ko")).toBe("1시간");
  expect(durationText(90_061_000, "ko")).toBe("1일 1시간");
  expect(durationText(9, "ko")).toBe("9ms");
  expect(durationText(-5, "en")).toBe("0 ms");
  expect(durationText(Number.NaN, "en")).toBe("0 ms");
  expect(clockText(3_727_000)).toBe("1:02:07");
  expect(clockText(187_000)).toBe("3:07");
  expect(sizeText(1_468_006)).toBe("1.4 MiB");
  expect(sizeText(12)).toBe("12 B");
});

test("CSV quotes what needs it and runs no formula", () => {
  expect(
    csvOf([
      ["a", 'b"c', "d,e"],
      ["=1+1", "-5", "@x"],
    ]),
  ).toBe(`\ufeffa,"b""c","d,e"\r\n'=1+1,-5,'@x\r\n`);
});

test("columns of numbers sort as numbers, others as words, empty cells last", () => {
  const rows = [["10"], ["9"], ["1,200"], [""], ["-3"]];
  expect(sortedRows(rows, 0, "ascending", "en")).toEqual([4, 1, 0, 2, 3]);
  expect(sortedRows(rows, 0, "descending", "en")).toEqual([2, 0, 1, 4, 3]);
  expect(sortedRows([["나"], ["가"], ["다"]], 0, "ascending", "ko")).toEqual([1, 0, 2]);
});

test("a column of numbers is known as one", () => {
  const rows = [
    ["10", "a", ""],
    ["1,200.5", "2", ""],
    ["", "", ""],
  ];
  expect([0, 1, 2].map((column) => isNumberColumn(rows, column))).toEqual([true, false, false]);
});

test("what the server recorded in the installation's language is read in one's own", () => {
  expect(ownWords("서버 작업이 중단되어 답변하지 못했습니다. 잠시 후 다시 시도해주세요.", "en")).toMatch(
    /^The server's work was/,
  );
  expect(
    ownWords(ownWords("서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.", "en"), "ko"),
  ).toBe("서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.");
  expect(ownWords("relation x does not exist", "ko")).toBe("relation x does not exist");
});

test("addresses name their pages", () => {
  expect(placeOf("/")).toEqual({ page: "chat", id: null });
  expect(placeOf("/c/abc")).toEqual({ page: "chat", id: "abc" });
  expect(placeOf("/batches/7?x=1")).toEqual({ page: "batches", id: "7" });
  expect(placeOf("/nothing")).toEqual({ page: "unknown", id: null });
});
