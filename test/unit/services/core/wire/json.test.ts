import { expect, test } from "vitest";
import { isStorable, readJson, storableJson } from "../../../../../services/core/wire/json.ts";

test.each([
  ["an object", '{"a":[1,"\\u00e9","\\ud83d\\ude00"]}'],
  ["brackets in a text", `{"a":"${"[{".repeat(500)}"}`],
  ["quotes and backslashes in a text", '{"a":"\\\\\\"[","b":"\\\\"}'],
  ["64 levels", `${"[".repeat(64)}${"]".repeat(64)}`],
  ["the letters of an escape", '{"a":"\\\\u0000"}'],
])("%s is read as it is", (_what, text) => {
  expect(readJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ["half a text", "{"],
  ["no JSON", '"'.repeat(9)],
  ["a text that ends in a backslash", '"\\'],
  ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`],
  ["many open levels", '{"a":'.repeat(100_000)],
  ["NUL", '{"a":["\\u0000"]}'],
  ["NUL in a key", '{"a\\u0000":1}'],
  ["half a character", '{"a":"\\uD83D"}'],
])("%s is refused as request.invalid", (_what, text) => {
  expect(() => readJson(text)).toThrow(expect.objectContaining({ code: "request.invalid" }));
});

test("a query's values are judged alike", () => {
  expect(isStorable({ a: "b", c: ["d"] })).toBe(true);
  expect(isStorable({ a: ["b\u0000"] })).toBe(false);
  expect(isStorable(null)).toBe(true);
});

test("what is written for jsonb has neither NUL nor half a character, in keys neither", () => {
  const odd = { "a\u0000": ["x\u0000", "\ud83d", { "\udc00b": null }], fine: "\\u0000 😀", n: 1 };
  const written: unknown = JSON.parse(storableJson(odd));
  expect(written).toEqual({ a: ["x", "\ufffd", { "\ufffdb": null }], fine: "\\u0000 😀", n: 1 });
  expect(isStorable(written)).toBe(true);
  expect(storableJson(undefined)).toBe("null");
});
