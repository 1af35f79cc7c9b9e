// What the built-in responder reads out of a question, in both languages.

import { expect, test } from "vitest";
import { readIntent } from "../../../../services/model/intent.ts";

const sources = ["demo", "sales"];

test.each([
  ["SELECT 6 * 7 AS answer", { kind: "sql", source: "demo", sql: "SELECT 6 * 7 AS answer" }],
  [
    "  with x as (select 1) select * from x",
    { kind: "sql", source: "demo", sql: "with x as (select 1) select * from x" },
  ],
  ["sql: SELECT pg_sleep(120)", { kind: "sql", source: "demo", sql: "SELECT pg_sleep(120)" }],
  ["run this please\n```sql\nSELECT 1\n```", { kind: "sql", source: "demo", sql: "SELECT 1" }],
  ["count orders", { kind: "count", source: "demo", table: "orders" }],
  ["How many rows in orders?", { kind: "count", source: "demo", table: "orders" }],
  ["orders 테이블은 몇 건이야?", { kind: "count", source: "demo", table: "orders" }],
  ["orders 건수", { kind: "count", source: "demo", table: "orders" }],
  ["describe the table orders in @sales", { kind: "describe", source: "sales", table: "orders" }],
  ["orders 구조 알려줘", { kind: "describe", source: "demo", table: "orders" }],
  ["list the tables", { kind: "tables", source: "demo" }],
  ["sales 스키마 보여줘", { kind: "tables", source: "sales" }],
  ["search budget", { kind: "search", words: "budget" }],
  ['search for "next year" in the transcripts', { kind: "search", words: "next year" }],
  ["예산 검색해줘", { kind: "search", words: "예산" }],
  ["hello", { kind: "help" }],
  ["안녕하세요", { kind: "help" }],
])("%s", (text, intent) => {
  expect(readIntent(text, sources)).toEqual(intent);
});

test("without any data source the source is left open, not invented", () => {
  expect(readIntent("SELECT 1", [])).toEqual({ kind: "sql", source: undefined, sql: "SELECT 1" });
});

test.each(["녹음 ", "orders ", "count ", "search ", '"', "몇 ", "```", "sql:", " ", "_"])(
  "a hundred thousand characters of %s are read within their bound",
  (part) => {
    const text = part.repeat(Math.ceil(100_000 / part.length));
    const intent = readIntent(text, sources);
    expect(intent.kind === "search" ? intent.words.length : 0).toBeLessThanOrEqual(200);
  },
);
