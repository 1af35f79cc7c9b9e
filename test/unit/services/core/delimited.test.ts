// The beginning of CSV and TSV texts.

import { expect, test } from "vitest";
import { readDelimited } from "../../../../services/core/delimited.ts";

test("columns, the first rows, and how many there are in all", () => {
  const text = `name,n\r\n${Array.from({ length: 20 }, (_, index) => `r${index},${index}`).join("\r\n")}\r\n`;
  expect(readDelimited("a.CSV", text, 2)).toEqual({
    columns: ["name", "n"],
    rows: [
      ["r0", "0"],
      ["r1", "1"],
    ],
    count: 20,
  });
});

test("quoted cells hold delimiters, line ends and doubled quotes; empty lines are no rows", () => {
  expect(readDelimited("a.csv", 'a,b\n"x,1","line one\nline ""two"""\n\n"y"z,\n', 9)).toEqual({
    columns: ["a", "b"],
    rows: [
      ["x,1", 'line one\nline "two"'],
      ["yz", ""],
    ],
    count: 2,
  });
});

test.each([
  ["a.csv", "a;b;c\n1;2,5;3", ["a", "b", "c"], [["1", "2,5", "3"]]],
  ["a.tsv", "a\tb\n1\t2\n", ["a", "b"], [["1", "2"]]],
  ["a.csv", "only\n1\n2", ["only"], [["1"], ["2"]]],
  ["a.csv", 'a,b\n1,"never closed', ["a", "b"], [["1", "never closed"]]],
  ["a.csv", "a,b\r1,2\r", ["a", "b"], [["1", "2"]]],
])("%s %j", (name, text, columns, rows) => {
  expect(readDelimited(name, text, 9)).toEqual({ columns, rows, count: rows.length });
});

test("other files and empty ones are no tables", () => {
  expect(readDelimited("a.txt", "a,b\n1,2", 9)).toBeNull();
  expect(readDelimited("a.csv", "\n\n", 9)).toBeNull();
});
