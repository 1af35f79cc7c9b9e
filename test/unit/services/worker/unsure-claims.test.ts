// Claims whose COMMIT broke off.

import { expect, test } from "vitest";
import type { Claim } from "../../../../services/db/claims.ts";
import type { Sql } from "../../../../services/db/pool.ts";
import { createUnsureClaims } from "../../../../services/worker/unsure-claims.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const claim: Claim = {
  kind: "chat",
  id: "t-1",
  queueJob: "j-1",
  retryCount: 0,
  format: 1,
  attempt: 1,
  worker: "worker-1",
};

/** A database in which `ours` tells whether the claim was committed. */
function setup() {
  const clock = createTestClock();
  const state = { ours: false, away: false, held: false, heldWhileAsked: false, asked: 0 };
  const handedBack: Claim[] = [];
  const db = {
    async query() {
      state.asked += 1;
      state.held ||= state.heldWhileAsked;
      if (state.away) throw new Error("away");
      return { rows: state.ours ? [{ id: "t-1", attempt: 1, stop: false }] : [], rowCount: 0 };
    },
  } as unknown as Sql;
  const unsure = createUnsureClaims({
    db,
    clock,
    isHeld: () => state.held,
    handBack: async (one) => void handedBack.push(one),
  });
  return { clock, state, handedBack, unsure };
}

test("a claim that was committed after all is handed back once", async () => {
  const { state, handedBack, unsure } = setup();
  unsure.note(claim);
  state.ours = true;
  await unsure.settle();
  await unsure.settle();
  expect(handedBack).toEqual([claim]);
});

test("one that is committed late, by a server that was frozen, is handed back too", async () => {
  const { state, handedBack, unsure } = setup();
  unsure.note(claim);
  await unsure.settle();
  expect(handedBack).toEqual([]);
  state.ours = true;
  await unsure.settle();
  expect(handedBack).toEqual([claim]);
});

test("it is not forgotten while the database is away, and is forgotten in the end", async () => {
  const { clock, state, handedBack, unsure } = setup();
  unsure.note(claim);
  state.away = true;
  await expect(unsure.settle()).rejects.toThrow("away");
  state.away = false;
  await clock.advance(61_000);
  await unsure.settle();
  const { asked } = state;
  await unsure.settle();
  expect(state.asked).toBe(asked);
  expect(handedBack).toEqual([]);
});

test("what was claimed anew with the same attempt runs here, and is not handed back (chaos, seed 206)", async () => {
  const { state, handedBack, unsure } = setup();
  unsure.note(claim);
  state.held = true;
  state.ours = true;
  await unsure.settle();
  expect([handedBack, state.asked]).toEqual([[], 0]);
  state.held = false;
  state.heldWhileAsked = true;
  await unsure.settle();
  expect([handedBack, state.asked]).toEqual([[], 1]);
});
