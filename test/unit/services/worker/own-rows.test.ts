// The worker's look at its own rows: who runs, who is lost, and what becomes of those that nobody runs.

import { expect, test } from "vitest";
import type { Claim } from "../../../../services/db/claims.ts";
import type { Database, Sql } from "../../../../services/db/pool.ts";
import type { RunningRow } from "../../../../services/db/running-rows.ts";
import { textOf } from "../../../../services/text/text.ts";
import { createOwnRows } from "../../../../services/worker/own-rows.ts";

const claim: Claim = {
  kind: "chat",
  id: "t-1",
  queueJob: "j-1",
  retryCount: 0,
  format: 1,
  attempt: 1,
  worker: "worker-1",
  requestId: null,
};
const row: RunningRow = {
  kind: "chat",
  id: "t-1",
  attempt: 1,
  losses: 0,
  claimedBy: "worker-1",
  queueJob: "j-1",
  format: 1,
  stopRequested: false,
  failsWhenLost: false,
  hasProgress: false,
};

/** A database in which `state.rows` run under this worker. */
function setup() {
  const state = { rows: [] as RunningRow[], away: false, claiming: false, whileAsked: () => {} };
  const running = new Map<string, { claim: Claim }>();
  const said: string[] = [];
  const sql: Sql = {
    async query(text: string) {
      if (state.away) throw new Error("away");
      if (text.includes("UNION ALL")) {
        state.whileAsked();
        return { rows: state.rows as never[], rowCount: state.rows.length };
      }
      if (/state = 'queued'/.test(text)) said.push("queued");
      if (/SET state = \$2, cause/.test(text)) said.push("ended");
      return { rows: [], rowCount: 1 };
    },
  };
  const db = { ...sql, attempt: (work: (sql: Sql) => Promise<unknown>) => work(sql) } as unknown as Database;
  const own = createOwnRows({
    id: "worker-1",
    db,
    queue: { remove: async () => {}, enqueue: async () => {} },
    claimMs: 420_000,
    random: { float: () => 0, uuid: () => "j-2", token: () => "" },
    log: { info: () => {}, warn: () => {} } as never,
    text: textOf("en"),
    running,
    isClaiming: () => state.claiming,
    abort: (id, cause) => said.push(`${cause} ${id}`),
    onReturned: () => said.push("returned"),
  });
  return { state, running, said, own };
}

test("a claim whose COMMIT broke off goes back in line untouched, also when it shows late", async () => {
  const { state, said, own } = setup();
  await own.runOnce();
  expect(said).toEqual([]);
  state.rows = [row];
  await own.runOnce();
  expect(said).toEqual(["queued", "returned"]);
});

test("a turn that was begun and left unended goes on by its journal; one that a stop was asked for ends", async () => {
  const { state, said, own } = setup();
  own.leave(claim);
  state.rows = [row];
  await own.runOnce();
  state.rows = [{ ...row, stopRequested: true }];
  await own.runOnce();
  expect(said).toEqual(["queued", "ended"]);
});

test("a recording that was begun and left unended waits again", async () => {
  const { state, said, own } = setup();
  own.leave({ ...claim, kind: "transcription" });
  state.rows = [{ ...row, kind: "transcription" }];
  await own.runOnce();
  expect(said).toEqual(["queued"]);
});

test("what could not be settled is thrown, and tried again at the next look", async () => {
  const { state, said, own } = setup();
  state.rows = [row];
  state.whileAsked = () => {
    state.away = true;
  };
  await expect(own.runOnce()).rejects.toThrow("could not be settled");
  state.whileAsked = () => {};
  state.away = false;
  await own.runOnce();
  expect(said).toEqual(["queued", "returned"]);
});

test("what runs here, or may this moment be claimed, is left alone (chaos, seed 206)", async () => {
  const { state, running, said, own } = setup();
  state.rows = [row];
  running.set("t-1", { claim });
  await own.runOnce();
  running.clear();
  state.claiming = true;
  await own.runOnce();
  state.claiming = false;
  // Claimed and begun while we looked.
  state.whileAsked = () => running.set("t-1", { claim });
  await own.runOnce();
  expect(said).toEqual([]);
});

test("a job whose row is another's now is told so, and one that was asked to stop is stopped", async () => {
  const { state, running, said, own } = setup();
  running.set("t-1", { claim });
  await own.runOnce();
  state.rows = [{ ...row, attempt: 2 }];
  running.set("t-1", { claim });
  running.set("t-2", { claim: { ...claim, id: "t-2" } });
  state.rows = [{ ...row, id: "t-2", stopRequested: true }, row];
  await own.runOnce();
  expect(said).toEqual(["lostClaim t-1", "stopped t-2"]);
});
