// Exactly one ending, whoever races whom: worker, stop, claim limit, reclaimers. And the fence of a claim.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { claimJobs, isClaimed } from "../../../services/db/claims.ts";
import { createListener, type Listener } from "../../../services/db/listen.ts";
import { createReclaimer } from "../../../services/db/reclaimer.ts";
import { requeueRow } from "../../../services/db/requeue.ts";
import { stopRow } from "../../../services/db/stops.ts";
import { acceptTurn, appendTurnEvents, endQueuedTurn, endTurn, listTurnEvents } from "../../../services/db/turns.ts";
import { textOf } from "../../../services/text/text.ts";
import { createSweeper } from "../../../services/web/sweeper.ts";
import { markWorkerGone } from "../../support/gone-workers.ts";
import { claimRow, type Metastore, startMetastore } from "../../support/metastore.ts";

let store: Metastore;
let listener: Listener;

beforeAll(async () => {
  store = await startMetastore();
  listener = createListener({
    url: store.url,
    channels: ["owl_worker_gone"],
    clock: systemClock,
    onError: () => undefined,
  });
  await listener.start();
});
afterAll(async () => {
  await listener?.stop();
  await store?.stop();
});

const text = textOf("en");
const stopped = { state: "stopped", cause: "stopped", message: null } as const;
const answered = { state: "answered", cause: "answered", message: null } as const;

function reclaimer(healthyForMs = 0) {
  const { db, queue, log } = store;
  return createReclaimer({
    db,
    queue,
    log,
    listener,
    text,
    clock: systemClock,
    random: systemRandom,
    claimMs: 420_000,
    stalledAfterMs: 30_000,
    healthyForMs: () => healthyForMs,
  });
}

function sweeper() {
  const { db, log } = store;
  return createSweeper({ db, log, text, clock: systemClock });
}

async function claimed(turn: { id: string; queueJob: string }, worker: string) {
  const claim = await claimRow(store.db, { kind: "chat", ...turn }, worker);
  if (typeof claim === "string") throw new Error(`the claim is ${claim}`);
  return claim;
}

const all = { kind: "chat", limit: 1_000, accountLimit: 1_000 } as const;

const endingsOf = async (id: string) =>
  (
    await store.db.query(
      `SELECT t.state, (SELECT count(*)::int FROM owl.turn_ending e WHERE e.turn_id = t.id) AS endings,
              (SELECT count(*)::int FROM owl.turn_event v WHERE v.turn_id = t.id AND v.kind = 'end') AS ends
         FROM owl.turn t WHERE t.id = $1`,
      [id],
    )
  ).rows[0];

test("a claim at the last moment and the claim limit: one of them has the turn, never both", async () => {
  await store.worker("worker-race");
  for (let round = 0; round < 20; round++) {
    const turn = await store.turn(0);
    const [claim] = await Promise.all([
      claimRow(store.db, { kind: "chat", ...turn }, "worker-race"),
      sweeper().closeUnclaimed(),
      sweeper().closeUnclaimed(),
    ]);
    const row = await endingsOf(turn.id);
    if (typeof claim !== "string") {
      expect(row).toEqual({ state: "running", endings: 0, ends: 0 });
      expect(await endTurn(store.db, claim, answered)).toBe(true);
    } else expect(row).toEqual({ state: "failed", endings: 1, ends: 1 });
    expect(await endingsOf(turn.id)).toMatchObject({ endings: 1, ends: 1 });
  }
});

test("a worker's answer, its own second try and two reclaimers at once: one ending, one end event", async () => {
  for (let round = 0; round < 20; round++) {
    const worker = `worker-gone-${round}`;
    await store.worker(worker);
    const turn = await store.turn();
    // Lost so often already that the next loss is its end.
    await store.db.query("UPDATE owl.turn SET losses = 5 WHERE id = $1", [turn.id]);
    const claim = await claimed(turn, worker);
    await markWorkerGone(store.db, worker);
    const [first, second] = await Promise.all([
      endTurn(store.db, claim, answered),
      endTurn(store.db, claim, answered),
      reclaimer().runOnce(),
      reclaimer().runOnce(),
    ]);
    expect(Number(first) + Number(second)).toBeLessThanOrEqual(1);
    // Locked by the other one at that moment, it is found by the next pass.
    await reclaimer().runOnce();
    const row = await endingsOf(turn.id);
    expect(row).toMatchObject({ endings: 1, ends: 1 });
    expect(row?.state).toBe(first || second ? "answered" : "failed");
  }
});

test("the database itself refuses a second ending and a changed one", async () => {
  const turn = await store.turn();
  await endQueuedTurn(store.db, turn.id, stopped);
  for (const change of [
    "state = 'answered'",
    "ended_at = NULL, state = 'queued'",
    "message = 'other'",
    "answer = 'other'",
  ]) {
    await expect(
      store.db.query(`UPDATE owl.turn SET ${change} WHERE id = $1`, [turn.id]),
      change,
    ).rejects.toMatchObject({
      code: "OW001",
    });
  }
  await expect(
    store.db.query("INSERT INTO owl.turn_ending (turn_id, state, cause, attempt) VALUES ($1, 'failed', 'cut', 1)", [
      turn.id,
    ]),
  ).rejects.toMatchObject({ code: "23505" });
});

test("after a hand-back the former claim writes nothing: no delta, no ending, no second hand-back", async () => {
  await store.worker("worker-slow");
  await store.worker("worker-next");
  const turn = await store.turn();
  const old = await claimed(turn, "worker-slow");
  expect(await appendTurnEvents(store.db, old, [{ kind: "delta", data: { text: "a" } }])).not.toBeNull();
  const queueJob = randomUUID();
  const deps = { queue: store.queue, random: { ...systemRandom, uuid: () => queueJob }, claimMs: 420_000 };
  const handBack = () => {
    const row = { ...old, queueJob: null, claimedBy: old.worker };
    return store.db.transaction((sql) => requeueRow(deps, sql, row, { lost: 0, begun: true }));
  };
  expect(await handBack()).toBe(true);
  const next = await claimed({ id: turn.id, queueJob }, "worker-next");
  expect(next.attempt).toBe(old.attempt + 1);
  expect(await appendTurnEvents(store.db, old, [{ kind: "delta", data: { text: "zombie" } }])).toBeNull();
  expect(await endTurn(store.db, old, answered)).toBe(false);
  expect(await handBack()).toBe(false);
  expect(await isClaimed(store.db, old)).toBe(false);
  expect(await isClaimed(store.db, next)).toBe(true);
  expect(await endTurn(store.db, next, answered)).toBe(true);
});

test("events sent again because their answer got lost are stored once, whether or not they had been stored", async () => {
  await store.worker("worker-unsure");
  const turn = await store.turn();
  const claim = await claimed(turn, "worker-unsure");
  const delta = (text: string) => [{ kind: "delta" as const, data: { text } }];
  const texts = async () =>
    (await listTurnEvents(store.db, turn.id, 0)).filter(({ kind }) => kind === "delta").map(({ data }) => data.text);
  // Stored the first time, and the first events of the turn.
  const first = await appendTurnEvents(store.db, claim, delta("a"));
  expect(await appendTurnEvents(store.db, claim, delta("a"), { after: null })).toBe(first);
  // Not stored the first time.
  const second = await appendTurnEvents(store.db, claim, delta("b"), { after: first });
  expect(second).toBe((first ?? 0) + 1);
  // Stored the first time, later ones.
  expect(await appendTurnEvents(store.db, claim, delta("b"), { after: first })).toBe(second);
  expect(await texts()).toEqual(["a", "b"]);
  expect(await endTurn(store.db, claim, answered)).toBe(true);
});

test("a worker that was taken for gone claims nothing", async () => {
  await store.worker("worker-zombie");
  await markWorkerGone(store.db, "worker-zombie");
  const turn = await store.turn();
  expect(await claimRow(store.db, { kind: "chat", ...turn }, "worker-zombie")).toBe("none");
  await endQueuedTurn(store.db, turn.id, stopped);
});

test("a row of a newer format than the worker's code is refused, and its job left where it is", async () => {
  await store.worker("worker-older");
  const turn = await store.turn();
  await store.db.query("UPDATE owl.turn SET format = 3 WHERE id = $1", [turn.id]);
  const job = { kind: "chat", ...turn } as const;
  expect(await claimRow(store.db, job, "worker-older")).toBe("none");
  await store.db.query("UPDATE owl.turn SET format = 1 WHERE id = $1", [turn.id]);
  expect(await claimRow(store.db, job, "worker-older")).toMatchObject({ attempt: 1, format: 1 });
  expect(await endTurn(store.db, { id: turn.id, attempt: 1 }, answered)).toBe(true);
});

test("a question that is refused leaves no turn, no event and no queue job", async () => {
  const turn = await store.turn();
  const conversation = async () =>
    String((await store.db.query("SELECT conversation_id AS id FROM owl.turn WHERE id = $1", [turn.id])).rows[0]?.id);
  const ask = async (conversationId: string) => {
    const [id, queueJob] = [randomUUID(), randomUUID()];
    const { accountId } = store;
    const asked = { id, conversationId, accountId, text: "question", queueJob, claimMs: 420_000 };
    const answer = await acceptTurn(store.db, store.queue, asked);
    const { rows } = await store.db.query(
      `SELECT (SELECT count(*)::int FROM owl.turn WHERE id = $1) AS turns,
              (SELECT count(*)::int FROM owl.turn_event WHERE turn_id = $1) AS events,
              (SELECT count(*)::int FROM pgboss.job WHERE id = $2) AS jobs`,
      [id, queueJob],
    );
    return { answer, ...rows[0] };
  };
  const nothing = { turns: 0, events: 0, jobs: 0 };
  expect(await ask(await conversation())).toEqual({ answer: "running", ...nothing });
  expect(await ask(randomUUID())).toEqual({ answer: "notFound", ...nothing });
  await endQueuedTurn(store.db, turn.id, stopped);
  expect(await ask(await conversation())).toEqual({ answer: "accepted", turns: 1, events: 1, jobs: 1 });
});

test("a turn's ending takes its queue job along, and does not wait for a claim that waits for the turn", async () => {
  await store.worker("worker-taking");
  const jobs = async (id: string) =>
    (await store.db.query("SELECT state FROM pgboss.job WHERE data->>'id' = $1", [id])).rows.map(({ state }) => state);
  const running = await store.turn();
  const { claims } = await claimJobs(store.db, { ...all, worker: "worker-taking" });
  const claim = claims.find(({ id }) => id === running.id);
  expect(await jobs(running.id)).toEqual(["active"]);
  expect(claim && (await endTurn(store.db, claim, answered))).toBe(true);
  expect(await jobs(running.id)).toEqual([]);
  const stopping = await store.turn();
  await store.db.transaction(async (sql) => {
    await sql.query("SELECT 1 FROM pgboss.job WHERE id = $1 FOR UPDATE", [stopping.queueJob]);
    expect(await endQueuedTurn(store.db, stopping.id, stopped)).toBe(true);
  });
  // The claim that held the job would have found it stale; now nobody takes it for a turn's.
  expect((await claimJobs(store.db, { ...all, worker: "worker-taking" })).claims).toEqual([]);
});

test("several jobs are claimed in one statement, and a row without its queue job is passed over", async () => {
  await store.worker("worker-several");
  const take = (limit: number) => claimJobs(store.db, { ...all, limit, worker: "worker-several" });
  await take(1_000);
  const turns = [await store.turn(), await store.turn(), await store.turn()];
  const [, gone] = turns;
  // It waits under another queue job by now, which is none.
  await store.db.query("UPDATE owl.turn SET queue_job = $2 WHERE id = $1", [gone?.id, randomUUID()]);
  expect((await take(2)).claims.map(({ id, attempt }) => [id, attempt])).toEqual([
    [turns[0]?.id, 1],
    [turns[2]?.id, 1],
  ]);
  expect(await take(2)).toEqual({ claims: [], stale: [], left: "none" });
  const { rows } = await store.db.query("SELECT kind, data FROM owl.turn_event WHERE turn_id = $1 ORDER BY seq", [
    turns[2]?.id,
  ]);
  expect(rows.map(({ data }) => data)).toEqual([{ state: "queued" }, { state: "running" }]);
});

test("silence is not believed by an observer that was cut off itself, and is by one that was not", async () => {
  await store.worker("worker-silent");
  const turn = await store.turn();
  await claimed(turn, "worker-silent");
  await store.db.query("UPDATE owl.worker SET heartbeat_at = now() - interval '10 minutes' WHERE id = 'worker-silent'");
  expect(await reclaimer(30_000).runOnce()).toBe(0);
  expect((await endingsOf(turn.id))?.state).toBe("running");
  expect(await reclaimer(30_001).runOnce()).toBe(1);
  expect(await endingsOf(turn.id)).toEqual({ state: "queued", endings: 0, ends: 0 });
  expect(await reclaimer(30_001).runOnce()).toBe(0);
});

test("a stop that was asked for before the worker was lost ends the turn as stopped", async () => {
  await store.worker("worker-stop");
  const turn = await store.turn();
  await claimed(turn, "worker-stop");
  expect(await stopRow(store.db, "chat", turn.id)).toBe("asked");
  await markWorkerGone(store.db, "worker-stop");
  await reclaimer().runOnce();
  expect((await endingsOf(turn.id))?.state).toBe("stopped");
});

test("a reclaimer that dies after any of its statements leaves what the next one finishes, once", async () => {
  for (let dies = 1; dies <= 4; dies++) {
    const worker = `worker-dies-${dies}`;
    await store.worker(worker);
    const turn = await store.turn();
    await claimed(turn, worker);
    await markWorkerGone(store.db, worker);
    const { db, queue, log } = store;
    let left = dies;
    const mortal = createReclaimer({
      db: {
        ...db,
        attempt: (work) =>
          db.attempt((sql) =>
            work({
              query(statement, values) {
                left -= 1;
                if (left === 0) throw new Error("killed");
                return sql.query(statement, values);
              },
            }),
          ),
      },
      queue,
      log,
      listener,
      text,
      clock: systemClock,
      random: systemRandom,
      claimMs: 420_000,
      stalledAfterMs: 30_000,
      healthyForMs: () => 0,
    });
    await expect(mortal.runOnce()).rejects.toThrow("killed");
    expect(await endingsOf(turn.id)).toMatchObject({ state: "running", endings: 0 });
    expect(await reclaimer().runOnce()).toBe(1);
    expect(await endingsOf(turn.id)).toEqual({ state: "queued", endings: 0, ends: 0 });
    const { rows } = await store.db.query("SELECT reclaimed FROM owl.worker WHERE id = $1", [worker]);
    expect(rows).toEqual([{ reclaimed: 1 }]);
  }
});

test("a lost transcription goes back in line with a new job, its segments kept, and is failed at the sixth loss", async () => {
  const [id, firstJob] = [randomUUID(), randomUUID()];
  await store.db.query(
    "INSERT INTO owl.transcription (id, account_id, path, name, queue_job) VALUES ($1, $2, '/a.wav', 'a', $3)",
    [id, store.accountId, firstJob],
  );
  await store.queue.enqueue(store.db, "transcription", { id, queueJob: firstJob });
  const states: string[] = [];
  for (let loss = 1; loss <= 6; loss++) {
    const worker = `worker-t-${loss}`;
    await store.worker(worker);
    const queueJob = String(
      (await store.db.query("SELECT queue_job FROM owl.transcription WHERE id = $1", [id])).rows[0]?.queue_job,
    );
    const claim = await claimRow(store.db, { kind: "transcription", id, queueJob }, worker);
    if (loss === 1) {
      await store.db.query(
        "INSERT INTO owl.segment (transcription_id, n, start_ms, end_ms, text, attempt) VALUES ($1, 0, 0, 1, 'kept', $2)",
        [id, typeof claim === "string" ? null : claim.attempt],
      );
    }
    await markWorkerGone(store.db, worker);
    expect(await reclaimer().runOnce()).toBe(1);
    const { rows } = await store.db.query<{ state: string; queue_job: string }>(
      "SELECT state, queue_job FROM owl.transcription WHERE id = $1",
      [id],
    );
    states.push(rows[0]?.state ?? "");
    if (rows[0]?.state === "queued") {
      const jobs = await store.db.query("SELECT 1 FROM pgboss.job WHERE id = $1 AND state = 'created'", [
        rows[0].queue_job,
      ]);
      expect(jobs.rowCount).toBe(1);
    }
  }
  expect(states).toEqual(["queued", "queued", "queued", "queued", "queued", "failed"]);
  expect((await store.db.query("SELECT text FROM owl.segment WHERE transcription_id = $1", [id])).rows).toEqual([
    { text: "kept" },
  ]);
});

test("owld's mark wakes the reclaimer by itself", async () => {
  await store.worker("worker-marked");
  const turn = await store.turn();
  await claimed(turn, "worker-marked");
  const { db, queue, log } = store;
  const asleep = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(2 ** 30, signal) };
  const one = createReclaimer({
    db,
    queue,
    log,
    listener,
    text,
    clock: asleep,
    random: systemRandom,
    claimMs: 420_000,
    stalledAfterMs: 30_000,
    healthyForMs: () => 0,
  });
  one.start();
  const ended = Promise.withResolvers<void>();
  const own = createListener({ url: store.url, channels: ["owl_turn"], clock: systemClock, onError: () => undefined });
  await own.start();
  own.on("owl_turn", (id) => id === turn.id && ended.resolve());
  await markWorkerGone(store.db, "worker-marked");
  await ended.promise;
  expect(await endingsOf(turn.id)).toEqual({ state: "queued", endings: 0, ends: 0 });
  await one.stop();
  await own.stop();
});
