// llhttp's wasm is a deep path of undici: pinned, and these tests fail when it moves or changes its mind.

import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import packages from "../../../package.json" with { type: "json" };
import { LLHTTP_SOURCE, MessageParser } from "../../../supervisor/proxy/engine-net/llhttp.ts";

const require = createRequire(import.meta.url);

test("undici is pinned to the version the engine was written against", () => {
  expect(packages.dependencies.undici).toBe("8.13.1");
  expect((require("undici/package.json") as { version: string }).version).toBe("8.13.1");
});

test("the wasm is the one that was tested", () => {
  const bytes = require(LLHTTP_SOURCE) as Buffer;
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(
    "18403ee56fab07f89a845028bad358bb3ebcda213f8e2ec0989a991e9c33da69",
  );
});

function parse(text: string, step: number) {
  const bodies: string[] = [];
  const parser = new MessageParser("request", 4_096, { judgeHead: () => "parseBody" });
  const bytes = Buffer.from(text, "latin1");
  let state = "more";
  let at = 0;
  while (at < bytes.length && state === "more") {
    const to = Math.min(bytes.length, at + step);
    state = parser.run(bytes, at, to);
    for (let part = 0; part < parser.body.length; part += 2) {
      bodies.push(bytes.toString("latin1", parser.body[part], parser.body[part + 1]));
    }
    at = state === "more" ? to : parser.consumed;
  }
  const headers: string[] = [];
  for (let index = 0; index < parser.spans.length; index += 2) {
    headers.push(parser.text.substring(parser.spans[index] ?? 0, parser.spans[index + 1]).trim());
  }
  const target = parser.text.substring(parser.lineStart, parser.lineEnd);
  const trailers = parser.trailers?.text ?? "";
  parser.close();
  return { state, at, target, headers, body: bodies.join(""), trailers };
}

test("a message is the same however it is cut", () => {
  const text =
    "POST /a/b?c HTTP/1.1\r\nHost: x\r\nEmpty:\r\nSpaced:  a b  \r\nTransfer-Encoding: chunked\r\n\r\n4;e=1\r\nwiki\r\n5\r\npedia\r\n0\r\nT-One: v 1\r\nT-Two: w\r\n\r\nGET /next";
  const whole = parse(text, text.length);
  expect(whole).toEqual({
    state: "complete",
    at: text.indexOf("GET /next"),
    target: "/a/b?c",
    headers: ["Host", "x", "Empty", "", "Spaced", "a b", "Transfer-Encoding", "chunked"],
    body: "wikipedia",
    trailers: "T-One: v 1\r\nT-Two: w\r\n",
  });
  for (const step of [1, 2, 3, 5, 7, 13, 64]) expect(parse(text, step)).toEqual(whole);
});

test("a head over its limit, in one piece or many, is too large", () => {
  const text = `GET / HTTP/1.1\r\nA: ${"b".repeat(5_000)}\r\n\r\n`;
  expect(parse(text, text.length).state).toBe("tooLarge");
  expect(parse(text, 100).state).toBe("tooLarge");
});

test("framing without a body in it does not go on for ever", () => {
  const text = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${"e".repeat(100_000)}\r\na\r\n0\r\n\r\n`;
  expect(parse(text, 1_000).state).toBe("failed");
});
