import { expect, test } from "vitest";
import { failuresInRow } from "../../../../services/schedules/failures.ts";

test("failures in a row are counted from the newest run that ended", () => {
  expect(failuresInRow(["open", "failed", "failed", "succeeded", "failed"])).toBe(2);
  expect(failuresInRow(["succeeded", "failed"])).toBe(0);
  expect(failuresInRow([])).toBe(0);
});
