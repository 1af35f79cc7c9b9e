// owld is killed (-9) as soon as each step of an update is on record, one step after the other in the same update, and
// started again: the update ends as it would have, with one database, nothing left over and every turn ended once.
// What no outsider can hit, the writes in between, test/unit/supervisor/update-runner.test.ts does one by one.

import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Status } from "../../../config/control-api.ts";
import { systemClock } from "../../../config/system-time.ts";
import { type Caller, createCaller, textOf } from "../../chaos/caller.ts";
import {
  found,
  INSTALLATION_YAML,
  type Installation,
  releasesOf,
  startInstallation,
} from "../../support/installation.ts";
import { ask, askManaged, courseOf, markedOf, postmastersOf } from "../../support/installation-facts.ts";
import { startTestPostgres } from "../../support/postgres.ts";
import { makeRelease } from "../../support/releases.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 1_200_000;
const LOOK_MS = 2;
/** Turns of a newer format than the release that is gone back to can claim are closed at `turn.claim`. */
const YAML = INSTALLATION_YAML.replace("wrapUp: 2s", "wrapUp: 2s, claim: 30s");

let releases: string;
const path = { compatible: "", incompatible: "", broken: "" };
beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-releases-"));
  chmodSync(releases, 0o755);
  const crash = `process.stderr.write("the new web is broken\\n"); process.exit(3);\n`;
  const next = String(migrationsHere().length + 1).padStart(4, "0");
  const kinds = readFileSync(join(ROOT, "services/core/job-kinds.ts"), "utf8");
  path.compatible = await makeRelease(releases, "9.1.0", {
    [`migrations/${next}_more.sql`]: "-- compatible\nALTER TABLE owl.turn ADD COLUMN more text;\n",
    "services/core/job-kinds.ts": kinds.replace(/format: (\d+),/, (_, format) => `format: ${Number(format) + 1},`),
  });
  const incompatible = {
    [`migrations/${next}_more.sql`]: "-- incompatible\nALTER TABLE owl.turn ADD COLUMN more text;\n",
  };
  path.incompatible = await makeRelease(releases, "9.2.0", incompatible);
  path.broken = await makeRelease(releases, "9.2.1", { ...incompatible, "services/web/main.ts": crash });
});
afterAll(() => rmSync(releases, { recursive: true, force: true }));

let owl: Installation | null = null;
let query: (sql: string) => ReturnType<typeof ask> = async (sql) => await askManaged(owl?.home ?? "", sql);
const managed = query;
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  await owl?.stop();
  owl = null;
  query = managed;
  for (const end of endings.splice(0)) await end();
}, BOUND_MS);

function migrationsHere(): string[] {
  return readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
}

/** The update on record; undefined while the state file is being opened again after a kill. */
function look(home: string): ReturnType<typeof courseOf> | undefined {
  try {
    return courseOf(home);
  } catch {
    return undefined;
  }
}

/** Kills owld once in each step on record (of those `only`), until nothing is on record; answers the steps. */
async function killInEachStep(at: Installation, only: readonly string[] | null = null): Promise<string[]> {
  const killed: string[] = [];
  for (;;) {
    await systemClock.sleep(LOOK_MS);
    const course = look(at.home);
    if (course === null) return killed;
    if (course === undefined) continue;
    const step = course.outcome === null ? course.step : "outcome";
    if (!killed.includes(step) && (only === null || only.includes(step))) {
      killed.push(step);
      await at.killOwld();
      at.start();
    }
  }
}

/** Looks all the time which releases have a worker, until stopped; answers every mixture seen. */
function watchWorkers(at: Installation): { stop(): Promise<readonly string[]> } {
  const mixed = new Set<string>();
  let isOn = true;
  const looks = (async () => {
    while (isOn) {
      const seen = new Set(
        markedOf(at.home)
          .filter(({ service }) => service === "worker")
          .map(({ release }) => release),
      );
      if (seen.size > 1) mixed.add([...seen].sort().join(" and "));
      await systemClock.sleep(50);
    }
  })();
  return {
    async stop() {
      isOn = false;
      await looks;
      return [...mixed];
    },
  };
}

/** Asks one question after the other until stopped; answers the ids of those that were accepted. */
async function askAll(at: Installation): Promise<{ stop(): Promise<readonly string[]> }> {
  const caller: Caller = createCaller(at.port);
  if (!(await caller.signIn())) throw new Error("nobody could sign in");
  const accepted: string[] = [];
  let isOn = true;
  const giveUpAt = (): number => systemClock.now() + BOUND_MS;
  const lane = (async () => {
    for (let n = 1; isOn; n++) {
      const made = await caller.insist(
        "POST",
        "/api/conversations",
        { body: { title: `${n}` }, key: `c-${n}` },
        giveUpAt(),
      );
      const question = { body: { text: "say 20 words every 60 ms" }, key: `t-${n}` };
      const turn = await caller.insist(
        "POST",
        `/api/conversations/${textOf(made.body, "id")}/turns`,
        question,
        giveUpAt(),
      );
      if (textOf(turn.body, "turnId") !== "") accepted.push(textOf(turn.body, "turnId"));
      await systemClock.sleep(500);
    }
  })();
  return {
    async stop() {
      isOn = false;
      await lane;
      caller.close();
      return accepted;
    },
  };
}

async function expectEachEndedOnce(turns: readonly string[]): Promise<void> {
  expect(turns.length).toBeGreaterThan(0);
  const open = async () =>
    await query("SELECT id FROM owl.turn WHERE ended_at IS NULL").catch(() => [{ id: "no answer" }]);
  await found(
    async () => ((await open()).length === 0 ? true : null),
    () => "turns are left open",
  );
  const ended = await query(
    "SELECT t.id, count(e.turn_id)::int AS endings FROM owl.turn t LEFT JOIN owl.turn_ending e ON e.turn_id = t.id GROUP BY t.id",
  );
  for (const turn of turns)
    expect(
      ended.find(({ id }) => id === turn),
      turn,
    ).toEqual({ id: turn, endings: 1 });
}

/** Steady on that release alone: one database, one set of processes, links and folders as they should be. */
async function expectWhole(at: Installation, version: string, kept: readonly string[], migrations: number) {
  const isBack = version === (await ownVersion());
  const now: Status = await at.until(({ state, release }) => state === "steady" && release.version === version);
  expect(releasesOf(now)).toEqual([version]);
  // One look: a process just being forked still bears its parent's mark.
  const services = (): string =>
    markedOf(at.home)
      .map(({ service }) => service)
      .sort()
      .join();
  await found(
    async () => (services() === "proxy,web,worker" ? true : null),
    () => `left over: ${JSON.stringify(markedOf(at.home))}`,
  );
  expect(readdirSync(join(at.home, "releases")).sort()).toEqual([...kept]);
  const current = join(at.home, "current");
  if (existsSync(current))
    expect(readlinkSync(current)).toBe(isBack ? ROOT.replace(/\/$/, "") : join(at.home, "releases", version));
  else expect(isBack).toBe(true);
  expect(await query("SELECT count(*)::int AS n FROM owl.migration")).toEqual([{ n: migrations }]);
}

async function ownVersion(): Promise<string> {
  return (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;
}

/** The whole of a rollout's end as an operator sees it. */
async function ends(at: Installation): Promise<readonly (readonly [string, string])[]> {
  return (await at.rollouts()).map(({ kind, state }) => [kind, state] as const).reverse();
}

test(
  "an update with a changed job format and a compatible migration, and its rollback by hand",
  async () => {
    const at = await startInstallation({ yaml: () => YAML });
    owl = at;
    const before = migrationsHere().length;
    const own = await ownVersion();
    const postmaster = postmastersOf(at.home);
    expect(postmaster).toHaveLength(1);
    const workers = watchWorkers(at);
    const questions = await askAll(at);
    await at.ctl("update", path.compatible, "--detach", "--yes");
    const forth = await killInEachStep(at);
    expect(forth).toEqual(expect.arrayContaining(["stage", "preflight", "migrate", "drain", "replace", "confirm"]));
    await expectWhole(at, "9.1.0", ["9.1.0"], before + 1);

    await at.ctl("rollback", "--detach", "--yes");
    const back = await killInEachStep(at);
    expect(back).toEqual(expect.arrayContaining(["preflight", "drain", "replace", "confirm"]));
    const turns = await questions.stop();
    await expectWhole(at, own, ["9.1.0"], before + 1);

    expect(await ends(at)).toEqual([
      ["update", "succeeded"],
      ["rollback", "succeeded"],
    ]);
    await expectEachEndedOnce(turns);
    expect(await workers.stop()).toEqual([]);
    // Other code at another path, the same programs and settings: never restarted.
    expect(postmastersOf(at.home)).toEqual(postmaster);
  },
  BOUND_MS,
);

test(
  "an incompatible migration under a broken web, and the rollback by hand of a good one",
  async () => {
    const at = await startInstallation({ yaml: () => YAML });
    owl = at;
    const before = migrationsHere().length;
    const own = await ownVersion();
    const workers = watchWorkers(at);
    const questions = await askAll(at);
    await at.ctl("update", path.broken, "--detach", "--yes");
    const forth = await killInEachStep(at);
    expect(forth).toEqual(
      expect.arrayContaining(["drain", "close", "copy", "migrateClosed", "replace", "restore", "replaceBack"]),
    );
    const turns = await questions.stop();
    const [failed] = await at.rollouts();
    expect(failed?.state).toBe("failed");
    expect(failed?.reason).toMatch(/exit code 3.*Rolled back to/s);
    await expectWhole(at, own, [], before);
    await expectEachEndedOnce(turns);
    expect(postmastersOf(at.home)).toHaveLength(1);
    expect(readdirSync(join(at.home, "postgres/copies"))).toEqual([]);

    const done = await at.ctl("update", path.incompatible, "--yes", "--json");
    expect(done.code, done.err + done.out).toBe(0);
    await expectWhole(at, "9.2.0", ["9.2.0"], before + 1);
    await at.ctl("rollback", "--detach", "--yes");
    const back = await killInEachStep(at);
    expect(back).toEqual(expect.arrayContaining(["drain", "close", "copy", "restore", "replace", "confirm"]));
    await expectWhole(at, own, ["9.2.0"], before);
    expect(await ends(at)).toEqual([
      ["update", "failed"],
      ["update", "succeeded"],
      ["rollback", "succeeded"],
    ]);
    await expectEachEndedOnce(turns);
    expect(await workers.stop()).toEqual([]);
    expect(postmastersOf(at.home)).toHaveLength(1);
  },
  BOUND_MS,
);

test(
  "an incompatible migration of a team's own PostgreSQL under a broken web",
  async () => {
    const postgres = await startTestPostgres();
    endings.push(postgres.stop);
    const url = await postgres.database();
    query = (sql) => ask(url, sql);
    const at = await startInstallation({ yaml: () => `${YAML}database: {url: "${url}"}\n` });
    owl = at;
    const before = migrationsHere().length;
    const own = await ownVersion();
    const workers = watchWorkers(at);
    const questions = await askAll(at);
    await at.ctl("update", path.broken, "--detach", "--yes");
    const only = ["copy", "migrateClosed", "restore"];
    expect(await killInEachStep(at, only)).toEqual(only);
    const turns = await questions.stop();
    expect((await at.rollouts()).map(({ state }) => state)).toEqual(["failed"]);
    await expectWhole(at, own, [], before);
    await expectEachEndedOnce(turns);
    expect(await workers.stop()).toEqual([]);
    expect(readdirSync(join(at.home, "copies"))).toEqual([]);
  },
  BOUND_MS,
);
