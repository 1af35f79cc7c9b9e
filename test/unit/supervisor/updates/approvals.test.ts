// What the page asks for and what it is told: each approval begun once, however owld is killed meanwhile; the running
// rollout cancelled; the past ones told when they change.

import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { Rollout } from "../../../../config/control-api.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import type { Bulletin, WaitingApproval, WaitingCancel } from "../../../../supervisor/ports.ts";
import { createJournal } from "../../../../supervisor/rollouts/journal.ts";
import { createRolloutRunner } from "../../../../supervisor/rollouts/record.ts";
import type { Store } from "../../../../supervisor/state/store.ts";
import { createApprovals } from "../../../../supervisor/updates/approvals.ts";
import { createCourseRecord } from "../../../../supervisor/updates/course.ts";
import type { TakeStep } from "../../../../supervisor/updates/runner.ts";
import { createUpdateRunner } from "../../../../supervisor/updates/runner.ts";
import { createPaperDisk, openMemoryStore, type PaperDisk } from "../../../support/memory-store.ts";
import { createTestClock } from "../../../support/test-clock.ts";

interface Row {
  readonly approval: WaitingApproval;
  state: string;
  rollout: string | null;
  message: string | null;
}

/** The database's tables between owld and the pages, on paper: they outlive each owld. */
function createPaperBoard() {
  const rows: Row[] = [];
  const cancels: { wish: WaitingCancel; state: string; message: string | null }[] = [];
  const posted = { rollouts: [] as (readonly Rollout[])[], rollbacks: 0 };
  const isOpen = ({ state }: Row): boolean => state === "waiting" || state === "running";
  const bulletin: Bulletin = {
    postStatus: async () => undefined,
    postOffers: async () => undefined,
    async postRollouts(rollouts) {
      posted.rollouts.push(rollouts);
    },
    async postRollbacks() {
      posted.rollbacks++;
    },
    async openCancel() {
      return cancels.find(({ state }) => state === "waiting")?.wish ?? null;
    },
    async noteCancel(id, state, message) {
      for (const one of cancels) if (one.wish.id === id) Object.assign(one, { state, message });
    },
    async openApproval() {
      const row = rows.find(isOpen);
      return row === undefined ? null : { ...row.approval, state: row.state as "waiting" };
    },
    async noteApproval(id, { state, rollout, message }) {
      const row = rows.find((one) => one.approval.id === id && isOpen(one));
      if (row !== undefined) Object.assign(row, { state, rollout: rollout?.id ?? row.rollout, message });
    },
    stop: async () => undefined,
  };
  return {
    bulletin,
    posted,
    rows,
    cancels,
    ask(id: string, kind: WaitingApproval["kind"]): Row {
      const version = kind === "restart" ? null : "0.9.0";
      const approval = { id, kind, version, services: null, by: "mina", state: "waiting", rollout: null } as const;
      const row: Row = { approval, state: "waiting", rollout: null, message: null };
      rows.push(row);
      return row;
    },
    cancel(id: string, rollout: string): void {
      cancels.push({ wish: { id, rollout, by: "mina" }, state: "waiting", message: null });
    },
  };
}

/** One owld on that disk. Its updates and rollbacks stay in their first step. */
function live(disk: PaperDisk, bulletin: Bulletin, touch: () => void = () => undefined, change: Partial<Store> = {}) {
  const clock = createTestClock();
  const log = pino({ level: "silent" });
  const store = { ...openMemoryStore(disk, touch), ...change };
  const journal = createJournal(store, clock, log);
  const rollouts = createRolloutRunner({
    clock,
    store,
    journal,
    record: en,
    bootId: "boot",
    proxies: {
      counters: () => ({ failures: 0, retries: 0, streamsMoved: 0, upstreams: [] }) as never,
      tallies: () => new Map(),
    },
    refreshCounters: async () => undefined,
    changed: () => undefined,
    kept: () => 200,
  });
  const stay: TakeStep = () => new Promise(() => undefined);
  const runner = createUpdateRunner({
    store,
    course: createCourseRecord(store),
    journal,
    rollouts,
    log,
    record: en,
    confirmMs: () => 0,
    steps: { preflight: stay, stage: stay } as never,
    discard: async () => undefined,
    changed: () => undefined,
    renewSelf: () => undefined,
  });
  const to = { version: "0.9.0", path: "/r/0.9.0" };
  const from = { version: "1.0.0", path: "/r/1.0.0" };
  const begin = (kind: "update" | "rollback") => async (_version: string, approval: string, by: string) =>
    runner.begin(
      { kind, source: null, overlapAsked: false, from, to, restoreFrom: null, approval, present: [] },
      1_000,
      by,
    );
  const approvals = createApprovals({
    clock,
    store,
    log,
    record: en,
    bulletin,
    status: async () => ({}) as never,
    offers: async () => [],
    rollbacks: async () => [],
    rollouts,
    restart: async (_services, by) => rollouts.begin("restart", [], [], { expectedMs: 1, worstMs: 1 }, { askedBy: by }),
    update: begin("update"),
    rollback: begin("rollback"),
  });
  return { approvals, rollouts, runner, clock };
}

const tick = async (owld: ReturnType<typeof live>): Promise<void> => {
  await owld.clock.advance(1_000);
  await owld.approvals.runOnce();
};

describe("an approval", () => {
  test.each(["update", "rollback"] as const)(
    "of an %s is begun at most once, killed before any write: it goes on, or is refused with a reason",
    async (kind) => {
      let isKilled = true;
      for (let killAt = 1; isKilled; killAt++) {
        const disk = createPaperDisk();
        const board = createPaperBoard();
        const row = board.ask("a-1", kind);
        let touches = 0;
        isKilled = false;
        const first = live(disk, board.bulletin, () => {
          touches++;
          if (touches >= killAt) {
            isKilled = true;
            throw new Error("killed");
          }
        });
        // Dead, it writes to no database either.
        const before = structuredClone(row);
        await first.approvals.runOnce().catch(() => undefined);
        if (isKilled) Object.assign(row, before);
        const second = live(disk, board.bulletin);
        second.runner.resume();
        for (let n = 0; n < 3; n++) await tick(second);
        const all = second.rollouts.recent(200);
        expect(all.length, `killed at ${killAt}`).toBeLessThanOrEqual(1);
        const [rollout] = all;
        if (rollout === undefined)
          expect(row, `killed at ${killAt}`).toMatchObject({
            state: "refused",
            message: expect.stringMatching(/stopped/),
          });
        else {
          expect(row, `killed at ${killAt}`).toMatchObject({ state: "running", rollout: rollout.id });
          expect(rollout).toMatchObject({ kind, state: "running", askedBy: "mina" });
        }
        expect(killAt).toBeLessThan(100);
      }
    },
  );

  test("that a restored database holds as waiting again starts nothing", async () => {
    const disk = createPaperDisk();
    const board = createPaperBoard();
    const row = board.ask("a-1", "rollback");
    await tick(live(disk, board.bulletin));
    expect(row).toMatchObject({ state: "running", rollout: "r-1" });
    Object.assign(row, { state: "waiting", rollout: null });
    const next = live(disk, board.bulletin);
    await tick(next);
    expect(row).toMatchObject({ state: "running", rollout: "r-1" });
    expect(next.rollouts.recent(200)).toHaveLength(1);
  });

  test("waits while the state file cannot be written: nothing is begun that is not on record", async () => {
    const board = createPaperBoard();
    const row = board.ask("a-1", "restart");
    let failing: string | null = "no space";
    const owld = live(createPaperDisk(), board.bulletin, undefined, { failing: () => failing });
    await tick(owld);
    expect(row.state).toBe("waiting");
    failing = null;
    await tick(owld);
    expect(row).toMatchObject({ state: "running", rollout: "r-1" });
  });
});

describe("a wish to cancel", () => {
  test("cancels the rollout that runs, once", async () => {
    const board = createPaperBoard();
    const owld = live(createPaperDisk(), board.bulletin);
    board.ask("a-1", "restart");
    await tick(owld);
    expect(owld.rollouts.running()?.cancelling).toBeUndefined();
    board.cancel("c-1", "r-1");
    await tick(owld);
    expect(board.cancels).toMatchObject([{ state: "done", message: null }]);
    expect(owld.rollouts.running()).toMatchObject({ id: "r-1", cancelling: true });
  });

  test("that comes when its rollout has ended is refused with how it ended, and harms no other", async () => {
    const disk = createPaperDisk();
    const board = createPaperBoard();
    const owld = live(disk, board.bulletin);
    const end = async (state: "succeeded" | "cancelled"): Promise<void> => {
      owld.rollouts.begin("restart", [], [], { expectedMs: 1, worstMs: 1 });
      // Asked twice: its last counters are asked for in between.
      owld.rollouts.end(state, null);
      await owld.clock.advance(1);
      owld.rollouts.end(state, null);
    };
    await end("succeeded");
    await end("cancelled");
    owld.rollouts.begin("restart", [], [], { expectedMs: 1, worstMs: 1 });
    board.cancel("c-1", "r-1");
    board.cancel("c-2", "r-2");
    board.cancel("c-3", "r-9");
    for (let n = 0; n < 3; n++) await tick(owld);
    expect(board.cancels.map(({ state, message }) => [state, message])).toEqual([
      ["refused", "r-1 had ended before: it succeeded."],
      // Killed before it was noted: it was this very wish that ended it.
      ["done", null],
      ["refused", "There is no rollout r-9."],
    ]);
    expect(owld.rollouts.running()?.cancelling).toBeUndefined();
  });
});

test("the newest twenty past rollouts are told when one begins or ends, and never in between", async () => {
  const board = createPaperBoard();
  const owld = live(createPaperDisk(), board.bulletin);
  await tick(owld);
  for (let n = 0; n < 25; n++) {
    owld.rollouts.begin("restart", [], [], { expectedMs: 1, worstMs: 1 });
    owld.rollouts.end("succeeded", null);
    await owld.clock.advance(1);
    owld.rollouts.end("succeeded", null);
  }
  for (let n = 0; n < 10; n++) await tick(owld);
  expect(board.posted.rollouts).toHaveLength(2);
  expect(board.posted.rollouts[0]).toEqual([]);
  expect(board.posted.rollouts[1]?.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => `r-${25 - n}`));
  // What a way back would cost is counted anew then, and each minute.
  expect(board.posted.rollbacks).toBe(2);
  for (let n = 0; n < 60; n++) await tick(owld);
  expect(board.posted).toMatchObject({ rollouts: { length: 2 }, rollbacks: 3 });
});
