// The worker with handlers that misbehave, in this process on a real database: each row still ends, once, in time.

import { type Logger, pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { JOB_KINDS } from "../../../config/config.ts";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { createListener, type Listener } from "../../../services/db/listen.ts";
import type { Database } from "../../../services/db/pool.ts";
import { endTurn } from "../../../services/db/turns.ts";
import { deregisterWorker } from "../../../services/db/workers.ts";
import { createChatHandler } from "../../../services/jobs/chat/handler.ts";
import type { Handler, JobContext } from "../../../services/jobs/handler.ts";
import { createEndpointResponder } from "../../../services/model/endpoint.ts";
import { textOf } from "../../../services/text/text.ts";
import { createSources } from "../../../services/tools/sources.ts";
import { createWorker, type Worker } from "../../../services/worker/worker.ts";
import { type Metastore, startMetastore } from "../../support/metastore.ts";
import { startTestModel } from "../../support/model.ts";
import { testAppConfig, until } from "../../support/services.ts";

let store: Metastore;
let listener: Listener;
const workers: Worker[] = [];
let count = 0;

beforeAll(async () => {
  store = await startMetastore();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.drain()));
  await listener.stop();
});
afterAll(() => store?.stop());

const answer = (context: JobContext) =>
  context.end((sql) => endTurn(sql, context, { state: "answered", cause: "answered", message: null }));

const failed = (context: JobContext) =>
  context.end((sql) => endTurn(sql, context, { state: "failed", cause: "error", message: "failed by its handler" }));

async function start(
  handler: Handler,
  change: { turn?: object; graceMs?: number; log?: Logger; chat?: number; db?: Database } = {},
): Promise<Worker> {
  const { queue, url } = store;
  const db = change.db ?? store.db;
  const id = `worker-${++count}`;
  await store.worker(id);
  listener = createListener({ url, channels: ["owl_jobs", "owl_stop"], clock: systemClock, onError: () => undefined });
  await listener.start();
  const base = testAppConfig(url, "/tmp");
  const config = {
    ...base,
    graceMs: change.graceMs ?? 4_000,
    turn: { ...base.turn, finishMs: 300, wrapUpMs: 600, ...change.turn },
    worker: { ...base.worker, concurrency: { ...base.worker.concurrency, chat: change.chat ?? 4 } },
  };
  const handlers = Object.fromEntries(JOB_KINDS.map((kind) => [kind, handler])) as never;
  const worker = createWorker({
    id,
    config,
    db,
    queue,
    listener,
    handlers,
    clock: systemClock,
    random: systemRandom,
    log: change.log ?? store.log,
    text: textOf("en"),
    onJobs: () => undefined,
  });
  workers.push(worker);
  worker.start();
  return worker;
}

const rowOf = async (id: string) =>
  (await store.db.query("SELECT state, cause, message FROM owl.turn WHERE id = $1", [id])).rows[0];
const ended = (id: string) =>
  until("it ended", async () => {
    const row = await rowOf(id);
    return row?.state !== "running" && row?.state !== "queued" && row;
  });
const never = () => new Promise<never>(() => undefined);

test("a handler that throws is failed by its own fail", async () => {
  await start({ run: () => Promise.reject(new Error("bug")), fail: failed });
  const turn = await store.turn();
  expect(await ended(turn.id)).toMatchObject({ state: "failed", message: "failed by its handler" });
});

test("one whose fail throws too is ended by its kind's rule, and the worker works on", async () => {
  let calls = 0;
  const worker = await start({
    async run(context) {
      calls += 1;
      if (calls === 1) throw new Error("bug");
      return answer(context);
    },
    fail: () => Promise.reject(new Error("another bug")),
  });
  const turn = await store.turn();
  expect(await ended(turn.id)).toMatchObject({ state: "failed", cause: "cut", message: textOf("en")("turn.cut") });
  const next = await store.turn();
  expect(await ended(next.id)).toMatchObject({ state: "answered" });
  await until("nothing runs any more", () => Object.keys(worker.jobs()).length === 0);
  expect(worker.counts().finished).toBe(0);
});

test("one that is deaf to its signal is ended without it inside wrap-up, and the drain goes on to its end", async () => {
  const worker = await start({ run: never, fail: failed });
  const turn = await store.turn();
  await until("it runs", () => worker.claims().length === 1);
  expect(await worker.drain()).toBe("drained");
  expect(await rowOf(turn.id)).toMatchObject({ state: "failed", cause: "cut", message: textOf("en")("turn.cut") });
});

test("a turn past its limit is aborted with that cause, and the rest of the work goes on", async () => {
  const causes: unknown[] = [];
  await start(
    {
      async run(context) {
        if (causes.length > 0) return answer(context);
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        causes.push(context.signal.reason.abortCause);
        return failed(context);
      },
      fail: failed,
    },
    { turn: { limitMs: 200, finishMs: 60_000 }, graceMs: 120_000, chat: 1 },
  );
  const turn = await store.turn();
  expect(await ended(turn.id)).toMatchObject({ state: "failed" });
  expect(causes).toEqual(["limit"]);
  const next = await store.turn();
  expect(await ended(next.id)).toMatchObject({ state: "answered" });
});

test("a claim that another one ended is told to the handler, which writes nothing any more", async () => {
  const results: string[] = [];
  await start({
    async run(context) {
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      results.push(context.signal.reason.abortCause, String(await context.stillClaimed()), await answer(context));
      return "lostClaim";
    },
    fail: failed,
  });
  const turn = await store.turn();
  const row = await until("it runs", async () => (await rowOf(turn.id))?.state === "running" && turn);
  await store.db.query(
    "UPDATE owl.turn SET state = 'failed', cause = 'cut', message = 'by another', ended_at = now() WHERE id = $1",
    [row.id],
  );
  await until("the handler let go", () => results.length === 3);
  expect(results).toEqual(["lostClaim", "false", "lostClaim"]);
  expect(await rowOf(turn.id)).toMatchObject({ message: "by another" });
});

test("a worker taken for gone leaves the jobs in line as they are", async () => {
  const worker = await start({ run: answer, fail: failed });
  await store.db.query("UPDATE owl.worker SET gone_at = now() WHERE id = $1", [`worker-${count}`]);
  const turn = await store.turn();
  const looked = async () =>
    (await store.db.query("SELECT state FROM pgboss.job WHERE id = $1", [turn.queueJob])).rows[0]?.state;
  const listening = createListener({
    url: store.url,
    channels: ["owl_jobs"],
    clock: systemClock,
    onError: () => undefined,
  });
  await listening.start();
  // Another wake-up after the first one was dealt with.
  const woken = new Promise<void>((resolve) => listening.on("owl_jobs", () => resolve()));
  await store.db.query("SELECT pg_notify('owl_jobs', 'chat')");
  await woken;
  await worker.abandon();
  expect(await looked()).toBe("created");
  expect((await rowOf(turn.id))?.state).toBe("queued");
  await listening.stop();
  await deregisterWorker(store.db, `worker-${count}`, worker.counts());
  await store.db.query("UPDATE owl.turn SET state = 'stopped', ended_at = now() WHERE id = $1", [turn.id]);
});

test("claims that come too late for a drain all go back in line, also when the database is away for the first of them", async () => {
  const turns = [await store.turn(), await store.turn(), await store.turn()];
  const handled: string[] = [];
  let draining: Promise<unknown> | null = null;
  let cuts = 0;
  const db: Database = {
    ...store.db,
    async attempt(work) {
      if (draining !== null && cuts++ === 0) throw Object.assign(new Error("cut"), { code: "ECONNRESET" });
      const done = await store.db.attempt(work);
      // The claims are committed, and nothing of them has begun.
      if (draining === null && Array.isArray(done) && done.length > 0) draining = worker.drain();
      return done;
    },
  };
  const worker = await start(
    {
      async run(context) {
        handled.push(context.id);
        return answer(context);
      },
      fail: failed,
    },
    { db, chat: 8 },
  );
  await until("it drains", () => draining !== null);
  expect(await worker.drain()).toBe("drained");
  expect(cuts).toBeGreaterThan(turns.length);
  expect(handled).toEqual([]);
  const { rows } = await store.db.query(
    `SELECT t.state, count(j.id)::int AS jobs FROM owl.turn t
       LEFT JOIN pgboss.job j ON j.id = t.queue_job AND j.state = 'created'
      WHERE t.id = ANY($1) GROUP BY t.id, t.state`,
    [turns.map(({ id }) => id)],
  );
  expect(rows).toEqual(turns.map(() => ({ state: "queued", jobs: 1 })));
  await store.db.query("UPDATE owl.turn SET state = 'stopped', ended_at = now() WHERE id = ANY($1)", [
    turns.map(({ id }) => id),
  ]);
});

test("a kind that runs on keeps the drain waiting past every budget, to the grace", async () => {
  const done = Promise.withResolvers<void>();
  const worker = await start(
    {
      async run(context) {
        await done.promise;
        const over = context.signal.aborted;
        return context.end(async (sql) => {
          const { rowCount } = await sql.query(
            "UPDATE owl.playbook_run SET state = 'done', message = $2, ended_at = now() WHERE id = $1 AND state = 'running'",
            [context.id, String(over)],
          );
          return rowCount === 1;
        });
      },
      fail: failed,
    },
    { turn: { finishMs: 50, wrapUpMs: 50 }, graceMs: 200 },
  );
  const [run, job] = [systemRandom.uuid(), systemRandom.uuid()];
  await store.db.transaction(async (sql) => {
    const { rows } = await sql.query<{ id: string }>(
      "INSERT INTO owl.playbook (id, account_id, name, steps) VALUES (gen_random_uuid(), $1, 'p', '[]') RETURNING id",
      [store.accountId],
    );
    await sql.query(
      "INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, queue_job) VALUES ($1, $2, $3, 'p', '[]', $4)",
      [run, store.accountId, rows[0]?.id, job],
    );
    await store.queue.enqueue(sql, "playbook", { id: run, queueJob: job });
  });
  await until("it runs", () => worker.claims().length === 1);
  const draining = worker.drain();
  // Longer than the bound at which a drain without such a job gives up (150 ms).
  await systemClock.sleep(400);
  expect(worker.claims()).toHaveLength(1);
  done.resolve();
  expect(await draining).toBe("drained");
  const { rows } = await store.db.query("SELECT state, message FROM owl.playbook_run WHERE id = $1", [run]);
  expect(rows).toEqual([{ state: "done", message: "false" }]);
});

test("drain logs its steps with the milliseconds since the signal, a job's lines name the request that asked", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const worker = await start(
    {
      run: async (context) => {
        await new Promise((r) => context.signal.addEventListener("abort", r));
        return failed(context);
      },
      fail: failed,
    },
    { log },
  );
  const { id } = await store.turn();
  await until("it runs", () => worker.claims().length === 1);
  await worker.drain();
  await worker.drain();
  const told = lines.filter((line) => typeof line.elapsedMs === "number").map((line) => line.msg);
  expect(told).toEqual(["drain started", "turn aborted", "drained"]);
  const ofTheRequest = lines.filter((line) => line.requestId === `r-${id}` && line.job === id).map((line) => line.msg);
  expect(ofTheRequest).toEqual(["job began", "turn aborted", "job is over"]);
});

test("an endpoint that falls silent, at once or half-way, costs its own turn alone", async () => {
  const { db, url } = store;
  const model = await startTestModel();
  const onError = () => undefined;
  const config = { ...testAppConfig(url, "/tmp"), model: { baseUrl: model.baseUrl, apiKey: null, name: "m" } };
  const sources = createSources({ config, db, clock: systemClock, max: 2, onError });
  const [silent, half, other] = [await store.turn(), await store.turn(), await store.turn()];
  const scripts = new Map([
    [silent.id, "silence"],
    [half.id, "half silence"],
    [other.id, "say 20 words every 10 ms"],
  ]);
  const handler = (text: string) =>
    createChatHandler({
      config,
      sources,
      responder: (question, answering) =>
        createEndpointResponder(config.model, text.includes("silence") ? { silenceMs: 3_000 } : {})(
          { ...question, text },
          answering,
        ),
    });
  try {
    await start({ run: (context) => handler(scripts.get(context.id) ?? "hello").run(context), fail: failed });
    expect(await ended(other.id)).toMatchObject({ state: "answered" });
    const told = { state: "failed", cause: "error", message: textOf("en")("model.silent") };
    expect(await ended(silent.id)).toEqual(told);
    expect(await ended(half.id)).toEqual(told);
    const next = await store.turn();
    expect(await ended(next.id)).toMatchObject({ state: "answered" });
    await until("the endpoint was hung up on", () => model.log.filter(({ event }) => event === "aborted").length === 2);
  } finally {
    await sources.stop();
    await model.stop();
  }
});
