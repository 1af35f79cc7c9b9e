import { describe, expect, test } from "vitest";
import { assessBudget } from "../../../../supervisor/core/connection-budget.ts";
import { type DatabaseFacts, judgePreflight, type PreflightFacts } from "../../../../supervisor/core/preflight.ts";
import type { SourceRole } from "../../../../supervisor/core/source-role.ts";
import { en, ko } from "../../../../supervisor/core/text/text.ts";

const services = [
  { name: "web", replicas: 2, connections: 144 },
  { name: "worker", replicas: 2, connections: 35 },
];

const database: DatabaseFacts = {
  kind: "external",
  answers: true,
  reason: null,
  version: "15.18",
  major: 15,
  maxConnections: 600,
  budget: assessBudget(services, 597),
  strangers: { count: 0, names: [] },
  migrations: { pending: [], compatible: true, refusal: null },
  pooler: null,
  pgDump: { path: "/usr/bin/pg_dump", major: 15 },
};

const reader: SourceRole = {
  name: "sales reader",
  superuser: false,
  writes: null,
  creates: false,
  memberOf: [],
  tempFileLimitKiB: 1_048_576,
  database: "sales",
};

const healthy: PreflightFacts = {
  configuration: { file: "/etc/owl/owl.yaml", problems: [], warnings: [] },
  budgets: { finishMs: 270_000, wrapUpMs: 30_000, claimMs: 420_000, graceMs: 330_000, apply: true, turnP95Ms: 90_000 },
  wrappers: [],
  programs: [],
  certificate: null,
  database,
  disk: [{ use: "logs", path: "/var/lib/owl/logs", freeBytes: 2 ** 33, neededBytes: 2 ** 29 }],
  memory: { availableBytes: 2 ** 32, largestInstanceBytes: 2 ** 28 },
  descriptors: { limit: 262_144, needed: 40_256 },
  ports: [{ address: "127.0.0.1:8080", state: "ours", holder: null }],
  directories: [{ path: "/var/lib/owl", mode: 0o711, owner: "owl", ours: true, closed: false }],
  clock: { nowIso: "2026-11-29T17:00:00.000Z", newestFileIso: "2026-11-29T16:00:00.000Z", behindMs: 0 },
  unit: { name: "owl.service", timeoutStopMs: 420_000, neededMs: 360_000 },
  limits: { services: [], unfit: null },
  endpoints: [{ name: "model", what: "http://127.0.0.1:9/v1/models", status: 200, error: null }],
  sources: [{ name: "sales", role: reader, error: null }],
};

const judge = (change: Partial<PreflightFacts>) => judgePreflight({ ...healthy, ...change }, en);

function lineOf(check: string, change: Partial<PreflightFacts>) {
  const found = judge(change).find((line) => line.check === check && line.verdict !== "OK");
  return found ?? judge(change).find((line) => line.check === check);
}

const db = (change: Partial<DatabaseFacts>): Partial<PreflightFacts> => ({ database: { ...database, ...change } });

test("a command that does not exist fails, and the others are still told of", () => {
  const lines = judge({ programs: [{ service: "api", kind: "command", what: "/no/such" }] });
  expect(lines.filter(({ check }) => check === "commands")).toEqual([
    expect.objectContaining({ verdict: "FAIL", found: "services.api.command: there is no program /no/such" }),
  ]);
});

test("a data source's role that may more than read is told with the statements that take it away", () => {
  const withRole = (change: Partial<SourceRole>) =>
    lineOf("data-source", { sources: [{ name: "sales", role: { ...reader, ...change }, error: null }] });
  expect(withRole({ superuser: true, memberOf: ["pg_monitor"] })).toMatchObject({
    verdict: "WARN",
    command: 'ALTER ROLE "sales reader" NOSUPERUSER;',
  });
  expect(withRole({ memberOf: ["pg_monitor", "pg_signal_backend"] })?.command).toBe(
    'REVOKE pg_monitor, pg_signal_backend FROM "sales reader";',
  );
  expect(withRole({ writes: "public.orders" })?.command).toMatch(/^CREATE ROLE owl_reader LOGIN/);
  expect(withRole({ creates: true, tempFileLimitKiB: -1 })?.command.split("\n")).toHaveLength(2);
  expect(lineOf("data-source", { sources: [{ name: "sales", role: null, error: "refused" }] })?.found).toMatch(
    /refused/,
  );
});

test("a connection pooler is refused with the reason and the way on", () => {
  for (const pooler of ["transaction", "startup"] as const)
    expect(lineOf("pooler", db({ pooler }))).toMatchObject({
      verdict: "FAIL",
      why: expect.stringContaining("LISTEN"),
      command: expect.stringContaining("5432"),
    });
});

test("a healthy machine is all OK, every line saying what, why and a command", () => {
  const lines = judge({});
  expect(lines.filter((line) => line.verdict !== "OK")).toEqual([]);
  for (const line of lines) {
    expect([line.check, line.found, line.why, line.command].every((text) => text.length > 0)).toBe(true);
  }
  expect(new Set(lines.map((line) => line.check))).toEqual(
    new Set([
      ...[
        "configuration",
        "turn-budget",
        "turn-length",
        "commands",
        "database",
        "connections",
        "migrations",
        "pg_dump",
      ],
      ...[
        "disk-logs",
        "memory",
        "file-descriptors",
        "clock",
        "port",
        "directory",
        "systemd-unit",
        "model",
        "data-source",
      ],
    ]),
  );
});

describe("what must fail", () => {
  test.each<[string, string, Partial<PreflightFacts>]>([
    [
      "an invalid configuration",
      "configuration",
      { configuration: { file: "x", problems: ["owl.yaml:3:1: no"], warnings: [] } },
    ],
    ["finish and wrap-up beyond the grace", "turn-budget", { budgets: { ...healthy.budgets, graceMs: 300_000 } }],
    ["a silent database", "database", db({ answers: false, reason: "refused" })],
    ["a steady sum over the limit", "connections", db({ budget: assessBudget(services, 297) })],
    [
      "a refused migration",
      "migrations",
      db({ migrations: { pending: [], compatible: true, refusal: () => "changed" } }),
    ],
    [
      "no pg_dump before an incompatible migration",
      "pg_dump",
      db({ pgDump: null, migrations: { pending: ["0002_x.sql"], compatible: false, refusal: null } }),
    ],
    [
      "an almost full disk",
      "disk-logs",
      { disk: [{ use: "logs", path: "/x", freeBytes: 2 ** 20, neededBytes: 2 ** 29 }] },
    ],
    ["a taken port", "port", { ports: [{ address: "0.0.0.0:80", state: "taken", holder: "nginx (pid 7)" }] }],
    ["a port that needs root", "port", { ports: [{ address: "0.0.0.0:80", state: "denied", holder: null }] }],
    [
      "a home of another user",
      "directory",
      { directories: [{ path: "/x", mode: 0o755, owner: "bob", ours: false, closed: false }] },
    ],
    [
      "a unit that stops too early",
      "systemd-unit",
      { unit: { name: "owl.service", timeoutStopMs: 90_000, neededMs: 360_000 } },
    ],
  ])("%s", (_, check, change) => {
    expect(lineOf(check, change)?.verdict).toBe("FAIL");
    expect(judge(change).some((line) => line.verdict === "FAIL")).toBe(true);
  });
});

describe("what is a warning only", () => {
  test.each<[string, string, Partial<PreflightFacts>]>([
    [
      "a key given twice",
      "configuration",
      { configuration: { file: "x", problems: [], warnings: ["web.env:2:1: A is given twice"] } },
    ],
    ["turns longer than finish", "turn-length", { budgets: { ...healthy.budgets, turnP95Ms: 280_000 } }],
    ["only the surge over the limit", "connections", db({ budget: assessBudget(services, 400) })],
    ["strangers that leave no room", "strangers", db({ strangers: { count: 100, names: ["psql"] } })],
    [
      "an incompatible migration",
      "migrations",
      db({ migrations: { pending: ["2"], compatible: false, refusal: null } }),
    ],
    ["a pg_dump older than the server", "pg_dump", db({ pgDump: { path: "/usr/bin/pg_dump", major: 14 } })],
    ["little memory", "memory", { memory: { availableBytes: 2 ** 28, largestInstanceBytes: 2 ** 28 } }],
    ["few descriptors", "file-descriptors", { descriptors: { limit: 1_024, needed: 40_256 } }],
    ["a clock behind the files", "clock", { clock: { ...healthy.clock, behindMs: 3_600_000 } }],
    [
      "a home others may write",
      "directory",
      { directories: [{ path: "/x", mode: 0o777, owner: "owl", ours: true, closed: false }] },
    ],
    ["a refused key", "model", { endpoints: [{ name: "model", what: "http://x/models", status: 401, error: null }] }],
    [
      "a silent model",
      "model",
      { endpoints: [{ name: "model", what: "http://x/models", status: null, error: "refused" }] },
    ],
    ["limits that nobody delegates", "control-groups", { limits: { services: ["web"], unfit: "notDelegated" } }],
    [
      "something that cannot be read",
      "disk-logs",
      { disk: [{ use: "logs", path: "/x", freeBytes: null, neededBytes: 1 }] },
    ],
  ])("%s", (_, check, change) => {
    expect(lineOf(check, change)?.verdict).toBe("WARN");
    expect(judge(change).some((line) => line.verdict === "FAIL")).toBe(false);
  });

  test("a wrapper, with the command to write instead", () => {
    const wrapper = { kind: "packageRunner", name: "npm", script: "start" } as const;
    const line = lineOf("commands", { wrappers: [{ service: "web", wrapper, scriptText: "node server.js" }] });
    expect(line).toMatchObject({ verdict: "WARN", found: expect.stringContaining("npm") });
    expect(line?.why).toContain("node server.js");
  });
});

test("an installation without a database asks nothing about one", () => {
  const checks = judge({ database: null }).map((line) => line.check);
  for (const check of ["database", "connections", "migrations", "pg_dump"]) expect(checks).not.toContain(check);
});

test("a managed database needs no pg_dump, a sticky run directory may be open", () => {
  expect(lineOf("pg_dump", db({ kind: "managed", pgDump: null }))?.verdict).toBe("OK");
  const run = { path: "/run/owl", mode: 0o1771, owner: "owl", ours: true, closed: false };
  expect(lineOf("directory", { directories: [run] })?.verdict).toBe("OK");
});

test("speaks Korean where the configuration does", () => {
  const lines = judgePreflight(healthy, ko);
  expect(lines.every((line) => /[가-힣]/.test(line.why))).toBe(true);
});
