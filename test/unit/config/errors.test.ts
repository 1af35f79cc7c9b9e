import { expect, test } from "vitest";
import { asError, invariant, OwlError } from "../../../config/errors.ts";

test("an OwlError carries its code, its next step and its data", () => {
  const error = new OwlError("rollout.busy", "Rollout r-12 is running.", { next: "Watch it.", data: { id: "r-12" } });
  expect([error.code, error.message, error.next, error.data]).toEqual([
    "rollout.busy",
    "Rollout r-12 is running.",
    "Watch it.",
    { id: "r-12" },
  ]);
});

test("a broken invariant throws its sentence", () => {
  expect(() => invariant(false, "one owner")).toThrow("Invariant broken: one owner");
});

test("a thrown string becomes an Error with that text", () => {
  expect(asError("no").message).toBe("no");
});
