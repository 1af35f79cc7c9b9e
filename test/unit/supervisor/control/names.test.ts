import { expect, test } from "vitest";
import { unknownInstance, unknownRollout, unknownService } from "../../../../supervisor/control/names.ts";

test("a refusal names what there is when nothing is near", () => {
  expect(unknownService("database", ["web", "worker"])).toMatchObject({
    code: "service.unknown",
    message: 'There is no service "database".',
    next: "Known: web, worker.",
  });
  expect(unknownInstance("web-2", ["web-1"])).toMatchObject({
    next: "Did you mean web-1?",
    data: { nearest: "web-1" },
  });
  expect(unknownRollout("r-99999", [])).toMatchObject({ code: "rollout.unknown", next: "There is none yet." });
});
