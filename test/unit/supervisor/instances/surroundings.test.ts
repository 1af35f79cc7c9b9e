// Which workers count as hung: heartbeats and time are given, the verdicts are read from the record and the journal.

import { pino } from "pino";
import { expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import type { WorkerStatus } from "../../../../config/control-api.ts";
import type { Instance } from "../../../../supervisor/core/instance.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createInstanceBook } from "../../../../supervisor/instances/book.ts";
import { createSurroundings } from "../../../../supervisor/instances/surroundings.ts";
import type { ServiceWishes } from "../../../../supervisor/instances/wishes.ts";
import type { Measures } from "../../../../supervisor/observe/measures.ts";
import { createJournal } from "../../../../supervisor/rollouts/journal.ts";
import { createPaperDisk, openMemoryStore } from "../../../support/memory-store.ts";
import { instance } from "../../../support/rollout-world.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const SILENT_MS = 31_000;

/** One worker with that heartbeat, its row marked gone already or not; the database has answered for `trustedMs`. */
async function look(
  change: Partial<Instance>,
  { ageMs = SILENT_MS, isMarkedGone = false, trustedMs = 60_000, rssBytes = 0, trialLimitBytes = 0 } = {},
) {
  const clock = createTestClock();
  const store = openMemoryStore(createPaperDisk(), () => undefined);
  const log = pino({ level: "silent" });
  const journal = createJournal(store, clock, log);
  const book = createInstanceBook({ store, journal, log, changed: () => undefined });
  book.add(instance({ id: "worker-1", service: "worker", number: 1, ...change }), "", "instance.adopted");
  await clock.advance(trustedMs);
  const since = clock.monotonicMs() - trustedMs;
  const config = { services: [], heartbeat: { intervalMs: 10_000, stalledAfterMs: 30_000 } } as unknown as Config;
  const usage = { rssBytes, cpu: 0 };
  const row: WorkerStatus = { id: "worker-1", state: "stalled", heartbeatAgeMs: ageMs, jobs: { chat: 1 } };
  const surroundings = createSurroundings({
    clock,
    record: en,
    book,
    measures: { noteMemory: () => undefined } as unknown as Measures,
    wishes: {} as ServiceWishes,
    groups: {} as never,
    definitions: {
      of: () => config,
      serviceOf: ({ rollout }: Pick<Instance, "rollout">) =>
        rollout === null ? null : { memoryLimitBytes: trialLimitBytes },
    } as never,
    timed: {} as never,
    sampler: {
      sample: async () => new Map(rssBytes === 0 ? [] : [[book.get("worker-1")?.identity?.pid, usage]]),
      hostMemory: async () => ({ totalBytes: 1, availableBytes: 1 }),
    } as never,
    logs: { tail: async () => ["its last words"], rotate: async () => undefined } as never,
    metastore: () =>
      ({
        connections: async () => null,
        workers: async (living: readonly string[]) => (isMarkedGone && !living.includes(row.id) ? [] : [row]),
        answeringSince: () => since,
      }) as never,
    config: () => config,
    changed: () => undefined,
    failed: (error) => {
      throw error;
    },
  });
  await surroundings.runOnce();
  const told = journal.read(null).flatMap(({ type, data }) => (type === "instance.adopted" ? [] : [[type, data]]));
  return { cause: book.get("worker-1")?.replaceCause ?? null, told, workers: surroundings.workers() };
}

const HUNG = "no heartbeat for 31 s while its process lives";

test("one whose heartbeat is silent is replaced for that, and its last lines are kept in the event", async () => {
  const { cause, told } = await look({});
  expect(cause).toBe(HUNG);
  expect(told).toEqual([["instance.hung", { lines: ["its last words"] }]]);
});

test("one that fails its health checks meanwhile, as a frozen one does, is told as hung all the same", async () => {
  const { cause } = await look({ state: "unhealthy", deadline: { kind: "unhealthy", atMs: 90_000 } });
  expect(cause).toBe(HUNG);
});

test("that the reclaimers were first to mark its row as gone hides nothing while its process lives", async () => {
  const { cause, workers } = await look({ state: "unhealthy" }, { isMarkedGone: true });
  expect(cause).toBe(HUNG);
  expect(workers).toEqual([expect.objectContaining({ id: "worker-1", state: "stalled" })]);
});

test.each<[string, Partial<Instance>, Parameters<typeof look>[1]]>([
  ["whose heart beats", {}, { ageMs: 29_000 }],
  ["that has not been ready yet", { state: "starting", readyMs: null }, {}],
  ["that is on its way out", { state: "draining", wanted: "down", leaving: "signalled" }, {}],
  ["whose process is gone", { state: "backoff" }, { isMarkedGone: true }],
  ["of a database that has only just begun to answer", {}, { trustedMs: 29_000 }],
])("one %s is not taken for hung", async (_what, change, facts) => {
  const { cause, told } = await look(change, facts);
  expect([cause, told]).toEqual([null, []]);
});

test("a memory limit counts from the trial of the definition that brings it", async () => {
  const tried = { ageMs: 0, rssBytes: 200 * 2 ** 20, trialLimitBytes: 160 * 2 ** 20 };
  const serving = { state: "ready", readyMs: 0, identity: { pid: 7, startTicks: "1", bootId: "b" } } as const;
  const { cause } = await look({ ...serving, rollout: "r-1" }, tried);
  expect(cause).toMatch(/200MiB.*160MiB/);
  expect((await look({ ...serving, rollout: null }, tried)).cause).toBeNull();
});
