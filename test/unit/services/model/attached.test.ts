// What the built-in responder reads off files.

import { expect, test } from "vitest";
import { describeFile } from "../../../../services/model/attached.ts";
import { textOf } from "../../../../services/text/text.ts";

const words = textOf("en");
const file = (name: string, text: string, characters = text.length) => ({
  name,
  bytes: text.length,
  characters,
  text,
  isEarlier: false,
});

test("of a table: rows, columns and the first rows", () => {
  const rows = Array.from({ length: 14 }, (_, index) => `region ${index},${index}`);
  const text = describeFile(file("sales_2026.csv", `region,sum\n${rows.join("\n")}\n`), words);
  expect(text).toContain("**sales\\_2026.csv** · ");
  expect(text).toContain("rows: 14, columns: 2");
  expect(text).toContain("| region | sum |\n| --- | --- |\n| region 0 | 0 |\n");
  expect(text).toContain("| region 9 | 9 |\n");
  expect(text).not.toContain("region 10");
  expect(text).toContain("Only the first 10 rows are shown.");
});

test("of another text: its lines, fenced so that nothing of it is Markdown", () => {
  const text = describeFile(file("a.md", "# head\n```\ncode\n```\n"), words);
  expect(text).toContain("lines: 4");
  expect(text).toContain("````\n# head\n```\ncode\n```\n````\n");
  expect(text).not.toContain("Only");
  expect(describeFile(file("b.log", "line\n".repeat(40)), words)).toContain("Only the first 12 lines are shown.");
});

test("a part is told as a part", () => {
  expect(describeFile(file("a.csv", "a,b\n1,2\n", 900_000), words)).toContain(
    "Only the first 8 of its 900000 characters were read",
  );
});
