// What a failed statement means, by the database's code; and that only the database's errors mean anything.

import { describe, expect, test } from "vitest";
import { isConflict, isOutage, markDatabaseError, mayPassLater } from "../../../../services/db/database-errors.ts";

const failed = (code: string | undefined, message = "failed") =>
  markDatabaseError(Object.assign(new Error(message), code === undefined ? {} : { code })) as Error;

describe("a statement may pass later after", () => {
  test.each([
    ["25006", "read-only"],
    ["53100", "disk full"],
    ["53200", "out of memory"],
    ["55P03", "lock not available"],
    ["57014", "statement cancelled"],
    ["58030", "input or output failed"],
    ["40P01", "deadlock"],
    ["40001", "serialization"],
    ["57P01", "shutting down"],
    ["57P05", "idle for too long"],
    ["53400", "a limit of the server's"],
    ["58P01", "a file is missing"],
    ["XX000", "an error inside the server"],
    ["ECONNREFUSED", "nobody listens"],
  ])("%s, %s", (code) => expect(mayPassLater(failed(code))).toBe(true));
});

test.each(["23505", "22021", "42P01", "54000", "54001", "OW001"])("%s is our own fault and never passes", (code) => {
  expect(mayPassLater(failed(code))).toBe(false);
});

test.each(["08006", "57P03", "53300", "25P03", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT"])(
  "%s of a connection is an outage",
  (code) => expect(isOutage(failed(code))).toBe(true),
);

test.each(["25006", "57014", "23505", "40P01"])("%s is none", (code) => expect(isOutage(failed(code))).toBe(false));

test("a connection that ended on this side is an outage, and a mistake of ours in a call is none", () => {
  expect(isOutage(failed(undefined, "Connection terminated unexpectedly"))).toBe(true);
  expect(isOutage(markDatabaseError(new TypeError("values must be an array")))).toBe(false);
});

test("a client that broke off its upload, and a file that is missing, are not the database's", () => {
  for (const code of ["ECONNRESET", "ENOENT", "EPIPE"]) {
    const error = Object.assign(new Error("aborted"), { code });
    expect([isOutage(error), mayPassLater(error)]).toEqual([false, false]);
  }
});

test("a turn's next event that two wrote at once is run again; another double key is not", () => {
  const double = (constraint: string) => Object.assign(failed("23505"), { constraint });
  expect([isConflict(double("turn_event_pkey")), isConflict(double("turn_pkey"))]).toEqual([true, false]);
});

test("only deadlock and serialization are run again as they are", () => {
  expect(["40P01", "40001", "55P03", "57014"].map((code) => isConflict(failed(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
