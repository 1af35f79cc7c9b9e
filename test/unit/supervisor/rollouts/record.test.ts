// What stays of rollouts on owld's record, and what a look at them costs.

import { pino } from "pino";
import { expect, test } from "vitest";
import { en } from "../../../../supervisor/core/text/text.ts";
import { createJournal } from "../../../../supervisor/rollouts/journal.ts";
import { createRolloutRunner } from "../../../../supervisor/rollouts/record.ts";
import { createPaperDisk, openMemoryStore, type PaperDisk } from "../../../support/memory-store.ts";
import { createTestClock } from "../../../support/test-clock.ts";

function open(disk: PaperDisk, kept = 3) {
  const clock = createTestClock();
  const store = openMemoryStore(disk, () => undefined);
  return createRolloutRunner({
    record: en,
    clock,
    store,
    journal: createJournal(store, clock, pino({ level: "silent" })),
    bootId: "boot",
    proxies: {
      counters: () => ({ failures: 0, retries: 0, streamsMoved: 0, upstreams: [] }) as never,
      tallies: () => new Map(),
    },
    refreshCounters: async () => undefined,
    changed: () => undefined,
    kept: () => kept,
  });
}

async function runThrough(rollouts: ReturnType<typeof open>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    rollouts.begin("restart", [], [], { expectedMs: 0, worstMs: 0 });
    rollouts.step("look", "done", "looked");
    rollouts.end("succeeded", null);
    const running = () => {
      rollouts.end("succeeded", null);
      return rollouts.running();
    };
    await expect.poll(running).toBeNull();
  }
}

const ids = (rollouts: readonly { readonly id: string }[]): string[] => rollouts.map(({ id }) => id);

test("only the newest rollouts stay on record, the events of the others go with them", async () => {
  const disk = createPaperDisk();
  await runThrough(open(disk), 5);
  expect([...(disk.documents.get("rollout")?.keys() ?? [])]).toEqual([3, 4, 5]);
  expect([...(disk.appended.get("rollout_event")?.values() ?? [])].map(({ rollout }) => rollout)).toEqual([
    "r-3",
    "r-4",
    "r-5",
  ]);
  expect(ids(open(disk, 1).recent(10))).toEqual(["r-5"]);
});

test("a page of rollouts is the newest first and goes on before an id", async () => {
  const rollouts = open(createPaperDisk(), 10);
  await runThrough(rollouts, 5);
  expect(ids(rollouts.recent(2))).toEqual(["r-5", "r-4"]);
  expect(ids(rollouts.recent(2, "r-4"))).toEqual(["r-3", "r-2"]);
  expect(rollouts.recent(2, "r-1")).toEqual([]);
  expect(rollouts.get("r-2")?.id).toBe("r-2");
  expect(rollouts.get("web-2")).toBeNull();
});

test("totals count every rollout once, forgotten ones and those of a record without totals too", async () => {
  const disk = createPaperDisk();
  await runThrough(open(disk), 5);
  const counted = [{ kind: "restart", state: "succeeded", count: 5 }];
  expect(open(disk).totals().rollouts).toEqual(counted);
  disk.documents.get("fact")?.delete("rollout totals");
  const again = open(disk).totals();
  expect(again.rollouts).toEqual([{ ...counted[0], count: 3 }]);
  expect(again.steps.look?.count).toBe(3);
});
