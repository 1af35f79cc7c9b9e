import { describe, expect, test } from "vitest";
import { type Migration, parseMigration, planMigrations } from "../../../../supervisor/core/migration-plan.ts";
import { en } from "../../../../supervisor/core/text/text.ts";

function file(number: number, compatible = true): Migration {
  return { number, name: `000${number}_x.sql`, sql: "SELECT 1", sha256: `hash-${number}`, compatible };
}

const applied = (...numbers: number[]) => numbers.map((number) => file(number));

describe("planning migrations", () => {
  test("an empty database gets all of them, and nothing old has to live with them", () => {
    const plan = planMigrations([file(2, false), file(1)], []);
    expect(plan).toMatchObject({ verdict: "pending", compatible: true });
    expect(plan.verdict === "pending" && plan.pending.map((one) => one.number)).toEqual([1, 2]);
  });

  test("one incompatible among the pending makes the whole incompatible", () => {
    const plan = planMigrations([file(1), file(2), file(3, false)], applied(1));
    expect(plan).toMatchObject({ verdict: "pending", compatible: false });
  });

  test("a database with all of them is up to date", () => {
    expect(planMigrations([file(1)], applied(1))).toEqual({ verdict: "upToDate", version: 1 });
  });

  test.each([
    ["a changed file", [file(1)], [{ ...file(1), sha256: "other" }], "migrate.changed"],
    ["a database that went ahead incompatibly", [file(1)], [file(1), file(2, false)], "migrate.future"],
    ["a gap in the database", [file(1), file(2), file(3)], applied(1, 3), "migrate.gap"],
    ["a gap in the files", [file(1), file(3)], [], "migrate.numbers"],
    ["a number given twice", [file(1), { ...file(1), name: "0001_y.sql" }], [], "migrate.numbers"],
  ])("%s is refused with the next step", (_, files, done, code) => {
    const plan = planMigrations(files, done);
    expect(plan).toMatchObject({ verdict: "refused", code });
    expect(plan.verdict === "refused" && plan.words(en).next).toMatch(/\w+/);
  });
});

test("after a rollback an older release lives with a schema that went ahead compatibly", () => {
  expect(planMigrations([file(1)], applied(1, 2))).toEqual({ verdict: "upToDate", version: 1 });
});

describe("a migration's file", () => {
  test("declares its compatibility on its first line", () => {
    expect(parseMigration("0001_turns.sql", "-- incompatible\nSELECT 1", "h")).toMatchObject({
      number: 1,
      compatible: false,
    });
    expect(parseMigration("0001_turns.sql", "SELECT 1", "h")).toContain("0001_turns.sql:1");
    expect(parseMigration("turns.sql", "-- compatible", "h")).toContain("0001_turns.sql");
  });
});
