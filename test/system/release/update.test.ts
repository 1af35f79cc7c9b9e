// Updates of the bundled application as operators see them: real owld, PostgreSQL, web and workers; releases made of
// this very checkout.

import { chmodSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Installation, pidsOf, releasesOf, startInstallation, visitor } from "../../support/installation.ts";
import { makeRelease } from "../../support/releases.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 600_000;

let releases: string;
const path = { good: "", crashing: "", incompatible: "", broken: "", stuck: "", noOwld: "" };
beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-releases-"));
  chmodSync(releases, 0o755);
  const crash = `process.stderr.write("the new web is broken\\n"); process.exit(3);\n`;
  const next = String(
    readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql")).length + 1,
  ).padStart(4, "0");
  const incompatible = {
    [`migrations/${next}_more.sql`]: "-- incompatible\nALTER TABLE owl.turn ADD COLUMN more text;\n",
  };
  const failing = {
    [`migrations/${next}_more.sql`]: "-- compatible\nCREATE TABLE owl.more (id int);\nSELECT 1 / 0;\n",
  };
  path.good = await makeRelease(releases, "9.0.1", {});
  path.crashing = await makeRelease(releases, "9.0.2", { "services/web/main.ts": crash });
  path.incompatible = await makeRelease(releases, "9.0.3", incompatible);
  path.broken = await makeRelease(releases, "9.0.4", { ...incompatible, "services/web/main.ts": crash });
  path.noOwld = await makeRelease(releases, "9.0.6", {
    "supervisor/main.ts": `if (!process.argv.includes("--version")) throw new Error("no owld today");\n`,
  });
  path.stuck = await makeRelease(releases, "9.0.5", failing);
});
afterAll(() => rmSync(releases, { recursive: true, force: true }));

const running: Installation[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
}, BOUND_MS);

async function install(): Promise<Installation> {
  const one = await startInstallation();
  running.push(one);
  return one;
}

describe("an update", () => {
  test(
    "replaces everything, owld too, without a failed request, and goes back by hand",
    async () => {
      const owl = await install();
      const before = await owl.status();
      const visits = visitor(owl.port);
      const plan = await owl.ctl("update", path.good, "--plan");
      expect([plan.code, plan.out]).toEqual([10, expect.stringContaining("Workers drain first")]);
      expect((await owl.status()).pid).toBe(before.pid);
      const done = await owl.ctl("update", path.good, "--yes", "--json");
      expect(done.code, done.err + done.out).toBe(0);
      const after = await owl.until(({ state, release }) => state === "steady" && release.version === "9.0.1");
      expect(releasesOf(after)).toEqual(["9.0.1"]);
      expect(readlinkSync(join(owl.home, "current"))).toBe(join(owl.home, "releases/9.0.1"));
      expect(after.pid).not.toBe(before.pid);
      const back = await owl.ctl("rollback", "--yes", "--json");
      expect(back.code, back.err + back.out).toBe(0);
      const returned = await owl.until(
        ({ state, release }) => state === "steady" && release.version === before.release.version,
      );
      expect(releasesOf(returned)).toEqual([before.release.version]);
      expect(await visits.stop()).toEqual([]);
    },
    BOUND_MS,
  );

  test(
    "to a release whose owld does not come up is undone by the launcher, and the owld before it says why",
    async () => {
      const owl = await install();
      const before = await owl.status();
      const visits = visitor(owl.port);
      const done = await owl.ctl("update", path.noOwld, "--yes", "--json");
      expect(done.code, done.err + done.out).toBe(1);
      expect(done.err + done.out).toMatch(
        /owld of 9\.0\.6 did not come up: exited with 1; exited with 1; exited with 1/,
      );
      const after = await owl.until(({ state }) => state === "steady");
      expect(after.release.version).toBe(before.release.version);
      expect(releasesOf(after)).toEqual([before.release.version]);
      expect(readdirSync(join(owl.home, "releases"))).toEqual([]);
      expect(existsSync(join(owl.home, "current"))).toBe(false);
      expect(existsSync(join(owl.home, "trial"))).toBe(false);
      expect(await visits.stop()).toEqual([]);
    },
    BOUND_MS,
  );

  test(
    "to a release whose web crashes is rolled back, says why, and leaves nothing in the releases folder",
    async () => {
      const owl = await install();
      const before = await owl.status();
      const visits = visitor(owl.port);
      const done = await owl.ctl("update", path.crashing, "--yes", "--json");
      expect(done.code).toBe(1);
      expect(done.out).toMatch(/the new web is broken/);
      expect(done.out).toMatch(/Rolled back to/);
      const after = await owl.until(({ state }) => state === "steady");
      expect([after.pid, releasesOf(after)]).toEqual([before.pid, [before.release.version]]);
      expect(readdirSync(join(owl.home, "releases"))).toEqual([]);
      expect(await visits.stop()).toEqual([]);
    },
    BOUND_MS,
  );

  test(
    "whose migration fails at its second statement touches no process and changes nothing",
    async () => {
      const owl = await install();
      const before = await owl.status();
      const done = await owl.ctl("update", path.stuck, "--yes", "--json");
      expect([done.code, done.out]).toEqual([1, expect.stringMatching(/division by zero/)]);
      const after = await owl.until(({ state }) => state === "steady");
      expect(pidsOf(after)).toEqual(pidsOf(before));
      expect(readdirSync(join(owl.home, "releases"))).toEqual([]);
    },
    BOUND_MS,
  );
});

describe("an incompatible migration", () => {
  test(
    "that is followed by a crashing web is undone by its copy; a good one can be gone back from by hand",
    async () => {
      const owl = await install();
      const before = await owl.status();
      const failed = await owl.ctl("update", path.broken, "--yes", "--json");
      expect([failed.code, failed.out]).toEqual([1, expect.stringMatching(/Rolled back to/)]);
      const restored = await owl.until(({ state }) => state === "steady");
      expect(releasesOf(restored)).toEqual([before.release.version]);
      const done = await owl.ctl("update", path.incompatible, "--yes", "--json");
      expect(done.code, done.err + done.out).toBe(0);
      await owl.until(({ state, release }) => state === "steady" && release.version === "9.0.3");
      const plan = await owl.ctl("rollback", "--plan");
      expect(plan.out).toMatch(/the copy taken before the update is put back/);
      const back = await owl.ctl("rollback", "--yes", "--json");
      expect(back.code, back.err + back.out).toBe(0);
      const returned = await owl.until(
        ({ state, release }) => state === "steady" && release.version === before.release.version,
      );
      expect(releasesOf(returned)).toEqual([before.release.version]);
    },
    BOUND_MS,
  );
});
