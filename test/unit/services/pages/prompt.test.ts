// Prompts: the command, and the places that are filled in.

import { expect, test } from "vitest";
import { commandOf, filledIn, named, placesOf } from "../../../../services/web/pages/core/prompt.ts";

test("a slash and a name alone is a command", () => {
  expect(["/", "/월간", "/a-b_2"].map(commandOf)).toEqual(["", "월간", "a-b_2"]);
  expect(["", "a/b", "/a b", "/etc/passwd", "/a\n", `/${"x".repeat(41)}`].map(commandOf)).toEqual(Array(6).fill(null));
});

test("places are found once each, in order, and filled in; what has no value stays", () => {
  const text = "{{월}} 매출을 {{ by }}로, {{월}}만. {{}} {{a\nb}} {by} {{left}}";
  expect(placesOf(text)).toEqual(["월", "by", "left"]);
  expect(filledIn(text, { 월: "7월", by: "지역" })).toBe("7월 매출을 지역로, 7월만. {{}} {{a\nb}} {by} {{left}}");
  expect(filledIn("{{x}}", { x: "{{x}} $&" })).toBe("{{x}} $&");
  expect(placesOf("{{a}}".repeat(5) + Array.from({ length: 40 }, (_, n) => `{{n${n}}}`).join(""))).toHaveLength(20);
});

test("names that begin so come before those that hold it", () => {
  const all = [{ name: "report" }, { name: "my-report" }, { name: "Reports" }, { name: "other" }];
  expect(named(all, "rep").map(({ name }) => name)).toEqual(["report", "Reports", "my-report"]);
});
