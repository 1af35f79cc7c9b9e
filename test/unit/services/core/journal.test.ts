// What a new attempt does with each step that earlier ones left, and what it tells again.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  actOn,
  asksFirst,
  canonicalJson,
  type JournalStep,
  keptTextLength,
} from "../../../../services/core/journal.ts";
import { effectOf, mayDeclareEffect } from "../../../../services/core/tool-effects.ts";

test.each([
  // kind, effect, state, answer -> act
  ["tool", "read", "finished", null, "replay"],
  ["tool", "write", "finished", null, "replay"],
  ["tool", "idempotent", "finished", null, "replay"],
  ["tool", "write", "finished", "happened", "replay"],
  ["model", "read", "finished", null, "replay"],
  ["tool", "read", "failed", null, "replay"],
  ["tool", "write", "failed", null, "replay"],
  ["model", "read", "failed", null, "repeat"],
  ["tool", "read", "started", null, "repeat"],
  ["tool", "idempotent", "started", null, "repeat"],
  ["model", "read", "started", null, "repeat"],
  ["tool", "write", "started", null, "ask"],
  ["tool", "write", "unknown", null, "ask"],
  ["tool", "write", "unknown", "stop", "ask"],
  ["tool", "write", "unknown", "again", "repeat"],
  ["tool", "idempotent", "unknown", null, "repeat"],
  ["tool", "read", "asked", null, "ask"],
  ["tool", "write", "asked", "allow", "repeat"],
  ["tool", "write", "failed", "refuse", "replay"],
] as const)("a %s step (%s) that is %s, answered %s: %s", (kind, effect, state, answer, act) => {
  expect(actOn({ kind, effect, state, answer })).toBe(act);
});

test.each([
  // needs approval, found (state, answer, hash), hash -> asks
  [false, null, "h", false],
  [true, null, "h", true],
  [true, ["asked", null, "h"], "h", true],
  [true, ["asked", "allow", "h"], "h", false],
  [true, ["asked", "allow", "h"], "other", true],
  [false, ["asked", "allow", "h"], "other", true],
  [true, ["started", null, "h"], "h", false],
  [true, ["unknown", "again", "h"], "h", false],
] as const)("approval needed: %s, on record %j, called with %s: asks %s", (needs, found, hash, asks) => {
  const step = found === null ? null : { state: found[0], answer: found[1], argumentHash: found[2] };
  expect(asksFirst(needs, step, hash)).toBe(asks);
});

const step = (change: Partial<JournalStep>): JournalStep => ({
  n: 0,
  id: "a",
  kind: "tool",
  name: "run_sql",
  argumentHash: "h",
  effect: "read",
  state: "finished",
  attempt: 1,
  output: null,
  message: null,
  answer: null,
  textLength: 0,
  ...change,
});

test("text stands as far as the first step that is not over; without one all of it does", () => {
  expect(keptTextLength([])).toBeNull();
  expect(keptTextLength([step({ textLength: 3 }), step({ n: 1, textLength: 9 })])).toBeNull();
  const open = [
    step({ textLength: 3 }),
    step({ n: 1, textLength: 9, state: "started" }),
    step({ n: 2, textLength: 12, state: "started", kind: "model" }),
  ];
  expect(keptTextLength(open)).toBe(9);
  expect(keptTextLength([step({ textLength: null, state: "started" })])).toBeNull();
});

test("an input is the same text whatever the order of its keys, and another one otherwise", () => {
  expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}');
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([
  ["http", { url: "http://x" }, null, "read"],
  ["http", { url: "http://x", method: "HEAD" }, null, "read"],
  ["http", { url: "http://x", body: {} }, null, "write"],
  ["http", { url: "http://x", method: "DELETE" }, null, "write"],
  ["http", { url: "http://x", method: "POST" }, "idempotent", "idempotent"],
  ["ticket", {}, null, "write"],
  ["ticket", {}, "idempotent", "idempotent"],
  ["mail", {}, "read", "write"],
  ["sql", {}, null, "read"],
  ["run_sql", {}, "write", "read"],
] as const)("%s with %j, declared %s: %s", (tool, input, declared, effect) => {
  expect(effectOf(tool, input, declared)).toBe(effect);
});

test("only what goes to an address that we do not know declares its effect", () => {
  expect((["sql", "http", "mail", "ticket"] as const).filter(mayDeclareEffect)).toEqual(["http", "ticket"]);
});
