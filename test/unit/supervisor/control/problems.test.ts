import { expect, test } from "vitest";
import { OwlError } from "../../../../config/errors.ts";
import { isOurFault, toProblem } from "../../../../supervisor/control/problems.ts";
import { en } from "../../../../supervisor/core/text/text.ts";

test.each([
  ["service.unknown", 404],
  ["rollout.busy", 409],
  ["config.invalid", 422],
  ["release.invalid", 422],
  ["request.invalid", 400],
  ["disk.full", 507],
  ["backup.off", 409],
  ["notify.off", 409],
  ["notify.failed", 502],
  ["supervisor.stopping", 503],
  ["spawn.failed", 500],
])("%s is a %i", (code, status) => {
  const problem = toProblem(new OwlError(code, "It is so.", { next: "Do this.", data: { id: 1 } }), en);
  expect(problem).toEqual({
    type: `urn:owl:problem:${code}`,
    title: expect.any(String),
    status,
    code,
    detail: "It is so.",
    next: "Do this.",
    data: { id: 1 },
  });
});

test("a bug tells nothing of itself, and is ours", () => {
  const problem = toProblem(new TypeError("x is undefined at /srv/owl"), en);
  expect(JSON.stringify(problem)).not.toContain("undefined");
  expect([problem.status, isOurFault(problem)]).toEqual([500, true]);
  expect(isOurFault(toProblem(new OwlError("rollout.busy", "One runs."), en))).toBe(false);
});
