import { expect, test } from "vitest";
import { nearestName, unknownInstance, unknownRollout, unknownService } from "../../../../supervisor/control/names.ts";

test("the nearest name is a typing slip away, not anything", () => {
  expect(nearestName("wrokers", ["web", "workers"])).toBe("workers");
  expect(nearestName("WEB", ["web", "worker"])).toBe("web");
  expect(nearestName("web-12", ["web-1", "web-7"])).toBe("web-1");
  expect(nearestName("database", ["web", "worker"])).toBeNull();
  expect(nearestName("x", [])).toBeNull();
});

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
