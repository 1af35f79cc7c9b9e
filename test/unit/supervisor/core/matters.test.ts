// What a person must be told of without asking.

import { expect, test } from "vitest";
import { type MatterFacts, mattersOf } from "../../../../supervisor/core/matters.ts";
import { en } from "../../../../supervisor/core/text/text.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const DAY = 86_400_000;
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

const FACTS: MatterFacts = {
  nowMs: NOW,
  sinceMs: NOW - 10 * DAY,
  rollouts: [],
  events: [],
  services: [{ name: "web", looping: false, down: false }],
  disk: [{ path: "/home/owl/logs", freeBytes: 10 ** 12, neededBytes: 10 ** 9 }],
  unwritable: null,
  certificate: null,
  backup: null,
  warnings: new Map(),
};

const found = (facts: Partial<MatterFacts>): string[] =>
  mattersOf({ ...FACTS, ...facts }, en).map(({ key, mark, urgent }) => `${key}|${mark}${urgent ? "|urgent" : ""}`);

const rollout = (id: string, kind: "restart" | "update", state: "failed" | "succeeded" | "cancelled" | "running") => ({
  id,
  kind,
  state,
  endedAt: state === "running" ? null : ago(DAY),
  reason: "web-3 was not ready.",
});

test("of an installation that is well nothing is told", () => {
  expect(found({})).toEqual([]);
});

test("a failed rollout is told until one succeeds; one that runs or was cancelled heals nothing", () => {
  const failed = rollout("r-7", "restart", "failed");
  expect(found({ rollouts: [failed] })).toEqual(["rollout|r-7"]);
  expect(found({ rollouts: [rollout("r-8", "restart", "running"), failed] })).toEqual(["rollout|r-7"]);
  expect(found({ rollouts: [rollout("r-8", "restart", "cancelled"), failed] })).toEqual(["rollout|r-7"]);
  expect(found({ rollouts: [rollout("r-8", "restart", "succeeded"), failed] })).toEqual([]);
});

test("a failed update is a matter of its own", () => {
  const rollouts = [rollout("r-9", "restart", "succeeded"), rollout("r-8", "update", "failed")];
  expect(found({ rollouts })).toEqual(["update|r-8"]);
});

test("what failed before anybody was to be told is no news", () => {
  expect(found({ sinceMs: NOW - DAY / 2, rollouts: [rollout("r-7", "restart", "failed")] })).toEqual([]);
});

test("a crash loop is urgent when it takes the service's pages down", () => {
  expect(found({ services: [{ name: "web", looping: true, down: false }] })).toEqual(["crash-loop web|"]);
  expect(found({ services: [{ name: "web", looping: true, down: true }] })).toEqual(["crash-loop web||urgent"]);
});

test("workers that hung within ten minutes are one matter", () => {
  const hung = (ms: number) => ({ at: ago(ms), type: "instance.hung", service: "worker", message: "worker-3 hung." });
  expect(found({ events: [hung(20_000), hung(60_000)] })).toEqual(["worker worker|"]);
  expect(found({ events: [hung(601_000)] })).toEqual([]);
});

test("a disk that is low, and one that is full", () => {
  expect(found({ disk: [{ path: "/home/owl", freeBytes: 10, neededBytes: 100 }] })).toEqual(["disk|low"]);
  expect(found({ unwritable: "ENOSPC" })).toEqual(["disk|full|urgent"]);
  expect(found({ disk: [{ path: "/home/owl", freeBytes: null, neededBytes: 100 }] })).toEqual([]);
});

test("a certificate that ends soon, and one that has ended", () => {
  const certificate = (untilMs: number) =>
    ({ path: "/c.pem", problem: null, standIn: false, unnamed: [], fromMs: NOW - 80 * DAY, untilMs }) as const;
  expect(found({ certificate: certificate(NOW + 60 * DAY) })).toEqual([]);
  expect(found({ certificate: certificate(NOW + 3 * DAY) })).toEqual(["certificate|WARN"]);
  expect(found({ certificate: certificate(NOW - 1) })).toEqual(["certificate|FAIL|urgent"]);
});

test("a backup that fails, one that is missing, and a drill", () => {
  const warnings = new Map([
    ["backup base", () => "The backup directory is full."],
    ["backup external", () => "Yours to back up."],
    ["drill", () => "The last restore drill failed."],
    ["strays", () => "Processes live on."],
  ]);
  expect(found({ warnings })).toEqual(["backup base|", "drill|"]);
  expect(found({ backup: { lastAtMs: NOW - DAY / 2, everyMs: DAY / 4 } })).toEqual([]);
  expect(found({ backup: { lastAtMs: NOW - DAY, everyMs: DAY / 4 } })).toEqual(["backup|"]);
  expect(found({ sinceMs: NOW - DAY / 4, backup: { lastAtMs: null, everyMs: DAY / 4 } })).toEqual([]);
});

test("a sentence without end is cut", () => {
  const [matter] = mattersOf({ ...FACTS, warnings: new Map([["drill", () => "x".repeat(100_000)]]) }, en);
  expect(matter?.text).toHaveLength(1_000);
});

test("a disk that fills up and a database that needs care are told until they are well", () => {
  const warnings = new Map([
    ["disk forecast", () => "full in 9 days"],
    ["database dead rows", () => "dead rows"],
    ["database", () => "it did not start"],
  ]);
  expect(found({ warnings })).toEqual(["disk forecast|", "database dead rows|"]);
});
