// One translator: every refusal has its exit code, and two lines.

import { expect, test } from "vitest";
import { OwlError } from "../../../config/errors.ts";
import { ConfigError } from "../../../config/problems.ts";
import { errorLines, exitCodeOf, Interrupted } from "../../../ctl/exit-codes.ts";
import { textOf } from "../../../ctl/text/text.ts";

const en = textOf("en");

test.each([
  [new ConfigError([{ where: "owl.yaml:1:1", message: "no" }]), 78],
  [new OwlError("rollout.busy", "busy"), 4],
  [new OwlError("daemon.unreachable", "away"), 3],
  [new OwlError("daemon.denied", "no"), 3],
  [new OwlError("watch.timeout", "late"), 5],
  [new OwlError("service.unknown", "who"), 2],
  [new OwlError("instance.unknown", "who"), 2],
  [new OwlError("batch.notFound", "who"), 2],
  [new OwlError("usage.grep", "what"), 2],
  [new OwlError("budget.exceeded", "no"), 1],
  [new Interrupted("bye"), 130],
  [new Error("bug"), 1],
  ["a string", 1],
])("%s is %i", (error, code) => expect(exitCodeOf(error)).toBe(code));

test("an error of the daemon keeps its sentence and its next step", () => {
  expect(errorLines(new OwlError("budget.exceeded", "Too many.", { next: "Fewer." }), en)).toEqual({
    sentence: "Too many.",
    next: "Fewer.",
  });
});

test("a bug is one sentence, no stack", () => {
  const { sentence, next } = errorLines(new TypeError("x is not a function"), en);
  expect(sentence).not.toMatch(/\n/);
  expect(next).toContain("OWL_DEBUG=1");
});
