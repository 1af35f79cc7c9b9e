import { expect, test } from "vitest";
import type { Manifest } from "../../../../supervisor/core/manifest.ts";
import { en, ko } from "../../../../supervisor/core/text/text.ts";
import { planUpdate, releasesToPrune, type UpdateFacts } from "../../../../supervisor/core/update-plan.ts";

const kind = (format = 1, argument = "a".repeat(64)) => ({ format, argument });

function manifest(change: Partial<Manifest> = {}): Manifest {
  return {
    format: 1,
    version: "1.0.0",
    commit: "0123456",
    builtAt: "2026-11-01T00:00:00.000Z",
    platform: "linux-x64",
    nodeVersion: "26.0.0",
    queueSchema: 46,
    jobKinds: { chat: kind(), transcription: kind(), playbook: kind(), "schema-analysis": kind() },
    migrations: [{ name: "0001_a.sql", compatible: true, touchesJobs: true, sha256: "1".repeat(64) }],
    notes: { ko: [], en: [] },
    files: {},
    links: {},
    ...change,
  };
}

function facts(change: Partial<UpdateFacts> = {}): UpdateFacts {
  return {
    bundled: true,
    from: manifest(),
    to: manifest({ version: "1.1.0" }),
    applied: ["0001_a.sql"],
    appliedHashes: { "0001_a.sql": "1".repeat(64) },
    queueSchema: 46,
    platform: "linux-x64",
    overlapAsked: false,
    workers: 2,
    graceMs: 330_000,
    readyMs: 2_000,
    webReplicas: 2,
    databaseBytes: 0,
    ...change,
  };
}

const second = (change: object) => ({
  name: "0002_b.sql",
  compatible: true,
  touchesJobs: false,
  sha256: "2".repeat(64),
  ...change,
});
const withSecond = (change: object) =>
  manifest({ version: "1.1.0", migrations: [...manifest().migrations, second(change)] });

test("workers drain first by default, even when nothing about jobs changed", () => {
  expect(planUpdate(facts(), en)).toMatchObject({
    verdict: "planned",
    workers: "drainFirst",
    steps: ["stage", "preflight", "compare", "migrate", "drain", "replace", "confirm", "switch", "trial", "prune"],
    worstWithoutWorkersMs: 332_000,
    worstDowntimeMs: 0,
    way: { back: "code" },
  });
});

test("overlap is granted on the manifests' evidence", () => {
  expect(planUpdate(facts({ overlapAsked: true }), en)).toMatchObject({ workers: "overlap", worstWithoutWorkersMs: 0 });
});

test.each([
  [
    "a raised format",
    manifest({ version: "1.1.0", jobKinds: { ...manifest().jobKinds, chat: kind(2) } }),
    /chat has format 2, was 1/,
  ],
  [
    "other arguments",
    manifest({ version: "1.1.0", jobKinds: { ...manifest().jobKinds, playbook: kind(1, "b".repeat(64)) } }),
    /arguments of job kind playbook/,
  ],
  ["a migration of job tables", withSecond({ touchesJobs: true }), /0002_b\.sql changes tables/],
  ["another queue schema", manifest({ version: "1.1.0", queueSchema: 47 }), /queue's own schema/],
])("overlap is refused for %s, and the default needs nothing asked", (_, to, reason) => {
  const refused = planUpdate(facts({ to, overlapAsked: true }), ko);
  expect(refused).toMatchObject({ verdict: "refused", code: "update.overlap" });
  expect(refused.verdict === "refused" && refused.words(en).sentence).toMatch(reason);
  expect(planUpdate(facts({ to }), en)).toMatchObject({ verdict: "planned", workers: "drainFirst" });
});

test("without a manifest of the running release nothing is evidence for overlap", () => {
  expect(planUpdate(facts({ from: null, overlapAsked: true }), en)).toMatchObject({ code: "update.overlap" });
});

test("compatible migrations run before any process is touched", () => {
  expect(planUpdate(facts({ to: withSecond({}) }), en)).toMatchObject({
    schema: "compatible",
    pending: ["0002_b.sql"],
    steps: ["stage", "preflight", "compare", "migrate", "drain", "replace", "confirm", "switch", "trial", "prune"],
    way: { back: "code" },
  });
});

test("an incompatible migration takes web out, copies, migrates, and its way back is the copy", () => {
  expect(planUpdate(facts({ to: withSecond({ compatible: false }), databaseBytes: 500_000_000 }), en)).toMatchObject({
    schema: "incompatible",
    steps: [
      "stage",
      "preflight",
      "compare",
      "drain",
      "close",
      "copy",
      "migrateClosed",
      "replace",
      "confirm",
      "switch",
      "trial",
      "prune",
    ],
    worstDowntimeMs: 342_000,
    way: { back: "restoreCopy" },
  });
});

test("the queue library's own schema change counts as incompatible in either direction", () => {
  for (const queueSchema of [45, 47])
    expect(planUpdate(facts({ queueSchema }), en)).toMatchObject({ schema: "incompatible", queueMigration: true });
});

test.each([
  ["another platform", { to: manifest({ platform: "linux-arm64" }) }, "update.platform"],
  ["a database ahead of the release", { applied: ["0001_a.sql", "0009_z.sql"] }, "update.schemaAhead"],
  ["an edited migration", { appliedHashes: { "0001_a.sql": "9".repeat(64) } }, "update.migrationChanged"],
] as const)("it is refused for %s", (_, change, code) => {
  expect(planUpdate(facts(change), en)).toMatchObject({ verdict: "refused", code });
});

test("under a team's own services only Owl itself is updated, whatever the database has", () => {
  const own = { bundled: false, applied: ["0009_z.sql"], appliedHashes: {}, queueSchema: null } as const;
  expect(planUpdate(facts(own), en)).toMatchObject({
    verdict: "planned",
    steps: ["stage", "preflight", "compare", "switch", "trial", "prune"],
    worstWithoutWorkersMs: 0,
    worstDowntimeMs: 0,
  });
  expect(planUpdate(facts({ ...own, overlapAsked: true }), en)).toMatchObject({ verdict: "refused" });
  expect(planUpdate(facts({ ...own, to: manifest({ platform: "linux-arm64" }) }), en)).toMatchObject({
    code: "update.platform",
  });
});

test("pruning keeps the newest three, the current and the previous one", () => {
  const kept = ["1", "2", "3", "4", "5"].map((n) => ({ version: `${n}.0.0`, finishedAt: Number(n) }));
  expect(releasesToPrune(kept, "1.0.0", null, 3)).toEqual(["2.0.0"]);
  expect(releasesToPrune(kept, "5.0.0", "2.0.0", 3)).toEqual(["1.0.0"]);
});
