import { expect, test } from "vitest";
import type { Binaries } from "../../../../../supervisor/postgres/binaries.ts";
import { choosePrograms } from "../../../../../supervisor/postgres/upgrade/choice.ts";

const programs = (major: number): Binaries => ({
  dir: `/pg/${major}`,
  major,
  version: `${major}.1`,
  source: "system",
});
const dumps = (...majors: number[]) => majors.map((major) => ({ major, dir: `/dump/${major}` }));
const FACTS = { major: 16, wanted: null, canUpgrade: () => false };

test("the newest version there is, by the newest pg_dump that is not newer than it", () => {
  const found = [16, 17, 18].map(programs);
  expect(choosePrograms({ ...FACTS, found, dumps: dumps(19, 18, 16, 15) })).toEqual({
    from: programs(16),
    to: programs(18),
    way: { kind: "dump", dir: "/dump/18" },
  });
});

test("a pg_dump newer than the new server is better than none", () => {
  const choice = choosePrograms({ ...FACTS, found: [16, 17].map(programs), dumps: dumps(20, 19, 15) });
  expect(choice.way).toEqual({ kind: "dump", dir: "/dump/19" });
});

test("pg_upgrade where both versions have what it runs", () => {
  const choice = choosePrograms({ ...FACTS, found: [16, 18].map(programs), dumps: [], canUpgrade: () => true });
  expect(choice.way).toEqual({ kind: "pg_upgrade" });
});

test.each([
  ["nothing newer", [16], [18], null, "upgrade.nothingNewer", "no programs of a newer version were found (found: 16)"],
  ["not the one asked for", [16, 18], [18], 17, "upgrade.nothingNewer", "no programs of 17 were found"],
  ["the old programs are gone", [18], [18], null, "upgrade.noOld", "of PostgreSQL 16, whose own programs"],
  ["a pg_dump older than the data", [16, 18], [15], null, "upgrade.noDump", "a pg_dump of 16 or newer"],
] as const)("refused: %s", (_, found, dumped, wanted, code, message) => {
  const choose = () => choosePrograms({ ...FACTS, wanted, found: found.map(programs), dumps: dumps(...dumped) });
  expect(choose).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});
