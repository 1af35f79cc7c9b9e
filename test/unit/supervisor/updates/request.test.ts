import { expect, test } from "vitest";
import type { Manifest } from "../../../../supervisor/core/manifest.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createAssessment } from "../../../../supervisor/updates/assessment.ts";
import { createUpdates, type UpdatesParts } from "../../../../supervisor/updates/request.ts";
import { createTestClock } from "../../../support/test-clock.ts";

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

function setup(change: Partial<UpdatesParts> = {}, lying: Partial<UpdatesParts["folder"]> = {}) {
  const unstaged: string[] = [];
  const unexpected = (): never => {
    throw new Error("not asked for here");
  };
  const folder = {
    running: { version: "1.0.0", path: "/" },
    stage: async () => ({ version: "1.1.0", path: "/", already: false }),
    unstage: async ({ version }: { readonly version: string }) => void unstaged.push(version),
    manifest: async () => manifest,
    schemaOf: async () => ({ migrations: [], queueSchema: 46 }),
    staged: async () => [],
    sweep: async () => [],
    ...lying,
  };
  const parts = {
    clock: createTestClock(),
    runner: { begin: unexpected } as unknown as UpdatesParts["runner"],
    folder,
    bundled: true,
    managed: true,
    preflight: async () => [{ check: "disk", verdict: "WARN", found: "tight", why: "w", command: "df" }],
    newerJobs: async () => 2,
    refuse: () => undefined,
    history: () => [{ version: "1.0.0", path: "/", finishedAt: 0, copy: "/", before: { version: "0.9.0", path: "/" } }],
    databaseFacts: async () => ({ applied: {}, compatible: {}, queueSchema: 46, bytes: 2 ** 30 }),
    writesSince: async () => ({ count: 3, firstAt: "then", lastAt: "now" }),
    figures: () => ({ workers: 1, graceMs: 8_000, readyMs: 1_000, webReplicas: 1, confirmMs: 30_000 }),
    replacement: ({ workers, web }) => ({
      steps: [...(web ? ["web"] : []), ...(workers ? ["worker"] : [])].map((service) => ({
        ...{ service, action: "start", instance: `${service}-3`, place: `${service}-1` },
      })),
      ...{ expectedMs: 31_000, worstMs: 70_000, peakConnections: 30, peakMemoryBytes: null },
    }),
    connectionLimit: () => 100,
    ...change,
  } as UpdatesParts;
  const updates = createUpdates({ ...parts, assess: createAssessment(parts) });
  return { updates, unstaged };
}

test("a plan tells the release's own notes and its preflight's warnings", async () => {
  const { notes, steps } = await setup().updates.planUpdate({ source: "/a" }, en);
  expect(notes).toContain("a note of the release");
  expect(notes.at(-1)).toMatch(/Preflight warns, disk: tight/);
  expect(steps.map(({ note }) => note)).not.toContain("");
});

test("a plan shows at `replace` what the loop will do with those that still run then, and the peak of it", async () => {
  const steps = async (change: Partial<UpdatesParts>, overlap = false) => {
    const plan = await setup(change).updates.planUpdate({ source: "/a", overlap }, en);
    expect(plan.peakConnections).toBe(30);
    const names = plan.steps.map(({ service, action }) => (service === "owl" ? action : service));
    return names.slice(names.indexOf("replace"), names.indexOf("confirm"));
  };
  expect(await steps({})).toEqual(["replace", "web"]);
  expect(await steps({}, true)).toEqual(["replace", "web", "worker"]);
  const incompatible = async () => ({ applied: {}, compatible: {}, queueSchema: 45, bytes: 0 });
  expect(await steps({ databaseFacts: incompatible })).toEqual(["replace"]);
});

test("a plan that is refused leaves nothing staged, unless it lay there before", async () => {
  const ahead = async () => ({ applied: { "0009_z.sql": "1" }, compatible: {}, queueSchema: 46, bytes: 0 });
  const fresh = setup({ databaseFacts: ahead });
  await expect(fresh.updates.planUpdate({ source: "/a" }, en)).rejects.toMatchObject({ code: "update.schemaAhead" });
  expect(fresh.unstaged).toEqual(["1.1.0"]);
  const kept = setup(
    { databaseFacts: ahead },
    { stage: async () => ({ version: "1.1.0", path: "/", already: true, signing: "checked" }) },
  );
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

test("the page is told the releases that ran before this one, the last one first, each with what going back costs", async () => {
  const before = (version: string) => ({ version, path: "/" });
  const entry = (version: string, was: string | null, copy: string | null = null) => ({
    ...before(version),
    finishedAt: 0,
    copy,
    before: was === null ? null : before(was),
  });
  // 1.2.0 lies newest in the history: it was gone back from.
  const history = () => [
    entry("1.2.0", "1.0.0"),
    entry("1.0.0", "0.9.0", "/"),
    entry("0.9.0", "0.8.0"),
    entry("0.8.0", null),
  ];
  const staged = async () => ["0.8.0", "0.9.0", "1.2.0"].map(before);
  const code = await setup({ history }, { staged }).updates.rollbacks(en);
  const codeOnly = { verdict: "planned", restores: false, closedMs: 0, lost: null, newerJobs: 2 };
  expect(code).toEqual([
    { version: "0.9.0", plan: codeOnly },
    { version: "0.8.0", plan: codeOnly },
  ]);
  const ahead = async () => ({ applied: { "0002_b.sql": "1" }, compatible: {}, queueSchema: 46, bytes: 2 ** 30 });
  const copies = await setup({ history, databaseFacts: ahead }, { staged }).updates.rollbacks(en);
  expect(copies).toMatchObject([
    {
      version: "0.9.0",
      plan: { restores: true, closedMs: 51_952, lost: { count: 3, firstAt: "then", lastAt: "now" }, newerJobs: 0 },
    },
    { version: "0.8.0", plan: { verdict: "refused", reason: expect.stringMatching(/no copy/) } },
  ]);
});
