// A part of the clients, each kept on its side by its cookie.

import { expect, test } from "vitest";
import { cookieLine, createDealer, keptSide } from "../../../../supervisor/proxy/core/share.ts";

test("of those without a cookie the part is dealt evenly", () => {
  const deal = createDealer(0.1);
  const sides = Array.from({ length: 1_000 }, deal);
  expect(Math.abs(sides.filter((side) => side === "new").length - 100)).toBeLessThanOrEqual(1);
  expect(Array.from({ length: 10 }, createDealer(1))).not.toContain("old");
});

test("a cookie counts for its own rollout alone", () => {
  const line = cookieLine("r-7", "new");
  const sent = /owl-share=[^;]+/.exec(line)?.[0] ?? "";
  const head = (cookie: string): string => `GET / HTTP/1.1\r\nHost: a\r\nCookie: theirs=1; ${cookie}\r\n\r\n`;
  expect(keptSide(head(sent), "r-7")).toBe("new");
  expect(keptSide(head(sent), "r-70")).toBeNull();
  expect(keptSide(head("owl-share=r-7.who"), "r-7")).toBeNull();
  expect(keptSide("GET / HTTP/1.1\r\n\r\n", "r-7")).toBeNull();
});
