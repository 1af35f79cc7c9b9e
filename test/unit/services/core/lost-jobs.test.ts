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
] as const)("a lost %s job: %s", (kind, verdict) => {
  expect(lostJobVerdict(jobKindRow(kind), { losses: 0, stopRequested: false }).verdict).toBe(verdict);
});

test("a transcription that lost five workers is failed at the sixth: it may be what ends them", () => {
  const verdicts = [0, 4, 5, 6].map((losses) =>
    lostJobVerdict(jobKindRow("transcription"), { losses, stopRequested: false }),
  );
  expect(verdicts.map((one) => one.verdict)).toEqual(["requeue", "requeue", "fail", "fail"]);
  expect(verdicts[2]?.reason).toContain("6 times");
});

test("a stop that was asked for is honoured before anything runs again", () => {
  for (const kind of JOB_KINDS) {
    expect(lostJobVerdict(jobKindRow(kind), { losses: 0, stopRequested: true }).verdict).toBe("stop");
  }
});
