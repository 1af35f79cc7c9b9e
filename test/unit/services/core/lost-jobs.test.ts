// The rule for lost jobs.

import { expect, test } from "vitest";
import { JOB_KINDS } from "../../../../config/config.ts";
import { jobKindRow } from "../../../../services/core/job-kinds.ts";
import { lostJobVerdict } from "../../../../services/core/lost-jobs.ts";

test.each([
  ["chat", "fail"],
  ["transcription", "requeue"],
  ["playbook", "fail"],
  ["schema-analysis", "fail"],
] as const)("a lost %s job goes back in line; of a copy that was put back: %s", (kind, restored) => {
  const lost = { losses: 0, stopRequested: false };
  expect(lostJobVerdict(jobKindRow(kind), lost).verdict).toBe("requeue");
  expect(lostJobVerdict(jobKindRow(kind), { ...lost, isRestored: true }).verdict).toBe(restored);
});

test("a turn in its first step that nobody could go on with fails at once; other work waits for who comes", () => {
  const alone = { losses: 0, stopRequested: false, isAlone: true };
  expect(JOB_KINDS.map((kind) => lostJobVerdict(jobKindRow(kind), alone).verdict)).toEqual(
    JOB_KINDS.map((kind) => (kind === "chat" ? "fail" : "requeue")),
  );
  expect(lostJobVerdict(jobKindRow("chat"), { ...alone, hasProgress: true }).verdict).toBe("requeue");
});

test("a run whose owner chose so fails instead of going on", () => {
  const lost = { losses: 0, stopRequested: false, failsWhenLost: true };
  expect(lostJobVerdict(jobKindRow("playbook"), lost).verdict).toBe("fail");
});

test.each(JOB_KINDS)("a %s job that lost five workers is failed at the sixth: it may be what ends them", (kind) => {
  const verdicts = [0, 4, 5, 6].map((losses) => lostJobVerdict(jobKindRow(kind), { losses, stopRequested: false }));
  expect(verdicts.map((one) => one.verdict)).toEqual(["requeue", "requeue", "fail", "fail"]);
  expect(verdicts[2]?.reason).toContain("6 times");
});

test("a stop that was asked for is honoured before anything runs again", () => {
  for (const kind of JOB_KINDS) {
    expect(lostJobVerdict(jobKindRow(kind), { losses: 0, stopRequested: true }).verdict).toBe("stop");
  }
});
