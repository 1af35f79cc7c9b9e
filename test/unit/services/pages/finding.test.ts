import { expect, test } from "vitest";
import { groupByDate } from "../../../../services/web/pages/core/date-groups.ts";
import { piecesOf } from "../../../../services/web/pages/core/found-text.ts";
import { keyAfter, namedBy } from "../../../../services/web/pages/core/palette.ts";

const NOON = new Date(2026, 2, 10, 12).getTime();
const at = (year: number, month: number, day: number, hour = 0) => ({
  updatedAt: new Date(year, month - 1, day, hour).toISOString(),
});

test("conversations stand by the reader's own days, then by months, in their order", () => {
  const items = [
    at(2026, 3, 11, 9),
    at(2026, 3, 10),
    at(2026, 3, 9, 23),
    at(2026, 3, 9),
    at(2026, 3, 3),
    at(2026, 3, 2, 23),
    at(2026, 2, 8),
    at(2026, 2, 7, 23),
    at(2026, 2, 1),
    at(2025, 2, 1),
  ];
  const groups = groupByDate(items, NOON);
  expect(groups.map(({ key, items: grouped }) => [key, grouped.length])).toEqual([
    ["today", 2],
    ["yesterday", 2],
    ["week", 1],
    ["month", 2],
    ["2026-02", 2],
    ["2025-02", 1],
  ]);
  expect(groups.flatMap((group) => group.items)).toEqual(items);
  expect(groupByDate([], NOON)).toEqual([]);
});

test("a found passage marks the words whatever their case, and nothing where none were looked for", () => {
  const marked = (passage: string, words: string) =>
    piecesOf(passage, words).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));
  expect(marked("Sales and SALES", "sales")).toEqual(["[Sales]", " and ", "[SALES]"]);
  expect(marked("월별 매출", "매출")).toEqual(["월별 ", "[매출]"]);
  expect(marked("a.c (x) abc", " a.c ")).toEqual(["[a.c]", " (x) abc"]);
  expect(marked("(((", "(((")).toEqual(["[(((]"]);
  expect(marked("text", "  ")).toEqual(["text"]);
});

test("the palette offers what holds every typed word, and its choice goes round", () => {
  const offers = [
    { key: "a", name: "Data catalogue" },
    { key: "b", name: "Archive batches" },
    { key: "c", name: "데이터 카탈로그" },
  ];
  expect(namedBy(offers, "").length).toBe(3);
  expect(namedBy(offers, " CAT data ").map(({ key }) => key)).toEqual(["a"]);
  expect(namedBy(offers, "카탈").map(({ key }) => key)).toEqual(["c"]);
  expect(keyAfter(offers, "c", 1)).toBe("a");
  expect(keyAfter(offers, "a", -1)).toBe("c");
  expect(keyAfter(offers, "gone", 1)).toBe("a");
  expect(keyAfter([], null, 1)).toBeNull();
});
