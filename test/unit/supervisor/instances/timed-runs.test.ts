// Services with a schedule in simulated time: what is begun, what is left out, what an owld's end leaves.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import type { Config, ScheduleConfig } from "../../../../config/config.ts";
import { homePaths } from "../../../../config/home.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createTimedRuns } from "../../../../supervisor/instances/schedules/timed-runs.ts";
import type { ExitReport, ProcessIdentity } from "../../../../supervisor/ports.ts";
import { createPaperDisk, openMemoryStore } from "../../../support/memory-store.ts";
import { createTestClock, settle } from "../../../support/test-clock.ts";

const START = Date.parse("2026-11-30T00:00:30Z");
const MINUTE = 60_000;
const schedule: ScheduleConfig = {
  cron: "* * * * *",
  zone: "UTC",
  overlap: "skip",
  missed: "skip",
  limitMs: 10 * MINUTE,
};

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A machine on which processes live until they are told how to end; `owld` starts one more on the same record. */
function machine(more: Partial<ScheduleConfig> = {}) {
  const home = mkdtempSync(join(tmpdir(), "owl-runs-"));
  ends.push(() => rmSync(home, { recursive: true }));
  const clock = createTestClock(START);
  const disk = createPaperDisk();
  const living = new Map<string, { identity: ProcessIdentity; exit: PromiseWithResolvers<ExitReport> }>();
  const told: string[] = [];
  const events: string[] = [];
  let stopped = false;
  const service = {
    ...{
      name: "nightly",
      command: ["true"],
      cwd: home,
      env: {},
      user: null,
      umask: null,
      schedule: { ...schedule, ...more },
    },
    ...{ stop: { graceMs: MINUTE, signal: "SIGTERM" }, memoryLimitBytes: null, listen: "none", bundled: false },
  };
  const owld = (kill: "never" | "beforeSpawn" = "never") => {
    let pid = 100 * (1 + disk.counters.size);
    const runs = createTimedRuns({
      clock,
      log: pino({ enabled: false }),
      store: openMemoryStore(disk, () => undefined),
      journal: {
        write(facts) {
          events.push(`${facts.type}: ${facts.message}`);
          return null as never;
        },
      },
      spawner: {
        async spawn({ instance }) {
          if (kill === "beforeSpawn") return await new Promise<never>(() => undefined);
          const identity = { pid: pid++, startTicks: "1", bootId: "boot" };
          const exit = Promise.withResolvers<ExitReport>();
          living.set(instance, { identity, exit });
          return { identity, exited: exit.promise, release: () => undefined };
        },
        adopt(identity) {
          const found = [...living.values()].find((one) => one.identity.pid === identity.pid);
          return found === undefined ? null : { identity, exited: found.exit.promise, release: () => undefined };
        },
      },
      table: {
        ...({} as Parameters<typeof createTimedRuns>[0]["table"]),
        signalLeader({ pid: of }, signal) {
          told.push(`${signal} ${of}`);
          return "sent";
        },
        killGroup: ({ pid: of }) => {
          for (const [id, one] of living) if (one.identity.pid === of) end(id, { code: null, signal: "SIGKILL" });
          return "sent";
        },
      },
      runUsage: { sample: async () => new Map() },
      wishes: { isStopped: () => stopped },
      paths: homePaths(home),
      mark: "mark",
      bootId: "boot",
      environment: {},
      config: () => ({ services: [service] }) as unknown as Config,
      release: () => "1.0.0",
      record: en,
    });
    runs.adopt([]);
    return runs;
  };
  const end = (id: string, how: { readonly code: number | null; readonly signal: NodeJS.Signals | null }): void => {
    const one = living.get(id);
    living.delete(id);
    one?.exit.resolve({ known: true, ...how });
  };
  const stand = (runs: ReturnType<typeof owld>) => runs.status(service as never);
  return { clock, owld, living, told, events, end, stand, service, stop: (is: boolean) => (stopped = is) };
}

test("a run is begun when it is time, once, and its end is told", async () => {
  const m = machine();
  const runs = m.owld();
  await runs.start();
  await m.clock.advance(29_000);
  expect(m.living.size).toBe(0);
  await m.clock.advance(5_000);
  expect([...m.living.keys()]).toEqual(["nightly-1"]);
  expect(m.stand(runs)).toMatchObject({ nextAt: "2026-11-30T00:02:00.000Z", running: { id: "nightly-1" }, last: null });
  m.end("nightly-1", { code: 3, signal: null });
  await settle();
  expect(m.stand(runs)).toMatchObject({
    running: null,
    last: { id: "nightly-1", outcome: "failed", how: "exit code 3" },
  });
  expect(runs.warnings()).toHaveLength(1);
  await m.clock.advance(10_000);
  expect(m.living.size).toBe(0);
  expect(m.events).toEqual([
    "schedule.started: nightly-1 is started, due at 2026-11-30 00:01 UTC.",
    "schedule.failed: nightly-1 has failed: exit code 3",
  ]);
  await runs.stop();
});

test.each([
  ["skip", []],
  ["queue", ["nightly-2"]],
] as const)("a time that comes while the run before goes on: %s", async (overlap, after) => {
  const m = machine({ overlap });
  const runs = m.owld();
  await runs.start();
  await m.clock.advance(3 * MINUTE);
  expect([...m.living.keys()]).toEqual(["nightly-1"]);
  expect(() => runs.runNow(m.service as never)).toThrow();
  m.end("nightly-1", { code: 0, signal: null });
  await m.clock.advance(5_000);
  expect([...m.living.keys()]).toEqual(after);
  expect(m.events.filter((event) => event.startsWith("schedule.skipped"))).toHaveLength(overlap === "skip" ? 2 : 1);
  for (const id of after) m.end(id, { code: 0, signal: null });
  await runs.stop();
});

test("over its limit it is told to end, and killed after its grace", async () => {
  const m = machine({ limitMs: 2 * MINUTE, cron: "1 * * * *" });
  const runs = m.owld();
  await runs.start();
  await m.clock.advance(3 * MINUTE);
  expect(m.told).toEqual([expect.stringMatching(/^SIGTERM /)]);
  expect(m.living.size).toBe(1);
  await m.clock.advance(2 * MINUTE);
  expect(m.stand(runs)?.last).toMatchObject({
    outcome: "failed",
    how: "it took longer than schedule.limit (120s); SIGKILL",
  });
  await runs.stop();
});

test("the next owld takes over a run that lives, and says of one that ended meanwhile that it is lost", async () => {
  const m = machine({ cron: "1 * * * *" });
  const first = m.owld();
  await first.start();
  await m.clock.advance(MINUTE);
  await first.letGo();
  const second = m.owld();
  await second.start();
  await m.clock.advance(MINUTE);
  expect([...m.living.keys()]).toEqual(["nightly-1"]);
  expect(second.all().map(({ id }) => id)).toEqual(["nightly-1"]);
  await second.letGo();
  m.living.clear();
  const third = m.owld();
  expect(m.stand(third)?.last).toMatchObject({ id: "nightly-1", outcome: "lost" });
  await third.start();
  await m.clock.advance(MINUTE);
  expect(m.living.size).toBe(0);
  await third.stop();
});

test("killed between the record and the process: that time is not taken again", async () => {
  const m = machine({ cron: "1 * * * *" });
  const first = m.owld("beforeSpawn");
  await first.start();
  await m.clock.advance(MINUTE);
  await first.letGo();
  const second = m.owld();
  await second.start();
  await m.clock.advance(5 * MINUTE);
  expect(m.living.size).toBe(0);
  expect(m.stand(second)?.last).toMatchObject({ id: "nightly-1", outcome: "lost" });
  await second.stop();
});

test.each([
  ["skip", 0],
  ["once", 1],
] as const)("times that no owld was there for: %s", async (missed, runsOf) => {
  const m = machine({ missed, cron: "1 * * * *" });
  const first = m.owld();
  await first.start();
  await first.letGo();
  await m.clock.advance(30 * MINUTE);
  const second = m.owld();
  await second.start();
  await m.clock.advance(MINUTE);
  expect(m.living.size).toBe(runsOf);
  expect(m.events.filter((event) => event.startsWith("schedule.missed"))).toHaveLength(1 - runsOf);
  for (const id of [...m.living.keys()]) m.end(id, { code: 0, signal: null });
  await second.stop();
});

test("while its service is stopped nothing is begun, and nothing was missed afterwards", async () => {
  const m = machine({ missed: "once" });
  const runs = m.owld();
  m.stop(true);
  await runs.start();
  await m.clock.advance(30 * MINUTE);
  m.stop(false);
  await m.clock.advance(10_000);
  expect(m.events).toEqual([]);
  expect(m.stand(runs)?.nextAt).toBe("2026-11-30T00:31:00.000Z");
  await runs.stop();
});

test("a clock that was wrong for a moment costs no run, and none runs twice", async () => {
  const m = machine();
  const runs = m.owld();
  await runs.start();
  await m.clock.advance(MINUTE);
  m.end("nightly-1", { code: 0, signal: null });
  m.clock.setWall(START + 365 * 86_400_000);
  await m.clock.advance(1_000);
  m.clock.setWall(START + MINUTE + 2_000);
  await m.clock.advance(MINUTE);
  expect([...m.living.keys()]).toEqual(["nightly-2"]);
  m.end("nightly-2", { code: 0, signal: null });
  await runs.stop();
});
