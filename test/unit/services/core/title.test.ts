import { expect, test } from "vitest";
import { titleOf } from "../../../../services/core/title.ts";

test.each([
  ["Monthly sales", "Monthly sales"],
  ['"**Monthly  sales.**"\nand more', "Monthly sales"],
  ["\n# 월별 매출\n", "월별 매출"],
  ["「월별 매출」。", "월별 매출"],
  ["<think>they want\na name</think>\n\nSales", "Sales"],
  ["<think>never ends", null],
  ["", null],
  ['"..."', null],
])("what a model says is a title: %j", (said, title) => {
  expect(titleOf(said)).toBe(title);
});

test("a title is bounded and cuts no character", () => {
  expect(titleOf(`${"a".repeat(79)}\u{1F989}${"b".repeat(50)}`)).toBe("a".repeat(79));
  expect(titleOf("가".repeat(500))).toHaveLength(80);
});
