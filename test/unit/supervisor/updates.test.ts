import { expect, test } from "vitest";
import type { Manifest } from "../../../supervisor/core/manifest.ts";
import { en } from "../../../supervisor/core/text/en.ts";
import { createUpdates, type UpdatesParts } from "../../../supervisor/updates.ts";
import { createTestClock } from "../../support/test-clock.ts";

const kind = { format: 1, argument: "a".repeat(64) };
const manifest: Manifest = {
  format: 1,
  version: "1.1.0",
  commit: "0123456",
  builtAt: "2026-11-01T00:00:00.000Z",
  platform: `${process.platform}-${process.arch}`,
  nodeVersion: "26.0.0",
  queueSchema: 46,
  jobKinds: { chat: kind, transcription: kind, playbook: kind, "schema-analysis": kind },
  migrations: [],
  notes: { ko: ["알림"], en: ["a note of the release"] },
  files: {},
  links: {},
};

function setup(change: Partial<UpdatesParts> = {}) {
  const unstaged: string[] = [];
  const unexpected = (): never => {
    throw new Error("not asked for here");
  };
  const updates = createUpdates({
    clock: createTestClock(),
    runner: { begin: unexpected } as unknown as UpdatesParts["runner"],
    running: { version: "1.0.0", path: "/" },
    bundled: true,
    managed: true,
    preflight: async () => [{ check: "disk", verdict: "WARN", found: "tight", why: "w", command: "df" }],
    newerJobs: async () => 2,
    refuseWhileBusy: () => undefined,
    stage: async () => ({ version: "1.1.0", path: "/", already: false }),
    unstage: async ({ version }) => void unstaged.push(version),
    manifest: async () => manifest,
    schemaOf: async () => ({ migrations: [], queueSchema: 46 }),
    staged: async () => [],
    ledger: () => [{ version: "1.0.0", path: "/", finishedAt: 0, copy: "/", before: { version: "0.9.0", path: "/" } }],
    databaseFacts: async () => ({ applied: {}, compatible: {}, queueSchema: 46, bytes: 2 ** 30 }),
    writesSince: async () => ({ count: 3, firstAt: "then", lastAt: "now" }),
    figures: () => ({ workers: 1, graceMs: 8_000, readyMs: 1_000, webReplicas: 1, confirmMs: 30_000 }),
    ...change,
  } as UpdatesParts);
  return { updates, unstaged };
}

test("a plan tells the release's own notes and its preflight's warnings", async () => {
  const { notes, steps } = await setup().updates.planUpdate({ source: "/a" }, en);
  expect(notes).toContain("a note of the release");
  expect(notes.at(-1)).toMatch(/Preflight warns, disk: tight/);
  expect(steps.map(({ note }) => note)).not.toContain("");
});

test("a plan that is refused leaves nothing staged, unless it lay there before", async () => {
  const ahead = async () => ({ applied: { "0009_z.sql": "1" }, compatible: {}, queueSchema: 46, bytes: 0 });
  const fresh = setup({ databaseFacts: ahead });
  await expect(fresh.updates.planUpdate({ source: "/a" }, en)).rejects.toMatchObject({ code: "update.schemaAhead" });
  expect(fresh.unstaged).toEqual(["1.1.0"]);
  const kept = setup({ databaseFacts: ahead, stage: async () => ({ version: "1.1.0", path: "/", already: true }) });
  await expect(kept.updates.planUpdate({ source: "/a" }, en)).rejects.toMatchObject({ code: "update.schemaAhead" });
  expect(kept.unstaged).toEqual([]);
});

test("a rollback by code alone names the waiting jobs the older release does not know", async () => {
  const { notes, steps } = await setup().updates.planRollback(null, en);
  expect(notes.join("\n")).toMatch(/Nothing is lost[\s\S]*2 jobs wait in a format/);
  expect(steps.map(({ action }) => action)).not.toContain("restore");
});

test("a rollback that puts a copy back tells the closed time and what is lost", async () => {
  const ahead = async () => ({ applied: { "0002_b.sql": "1" }, compatible: {}, queueSchema: 46, bytes: 2 ** 30 });
  const { notes, steps, worstMs } = await setup({ databaseFacts: ahead }).updates.planRollback(null, en);
  expect(notes.join("\n")).toMatch(/503 for at most 52 s[\s\S]*3 writes since that copy are lost, from then to now/);
  expect(steps.map(({ action }) => action)).toContain("restore");
  expect(worstMs).toBeGreaterThan(52_000);
});

test("under a team's own services no database is asked", async () => {
  const asked = async (): Promise<never> => {
    throw new Error("there is no database here");
  };
  const { updates } = setup({ bundled: false, databaseFacts: asked, newerJobs: asked });
  expect((await updates.planUpdate({ source: "/a" }, en)).notes.join("\n")).toMatch(/untouched/);
  expect((await updates.planRollback(null, en)).notes.join("\n")).toMatch(/untouched/);
});
