// The administrator's jobs over real web and worker processes: who may look, what is told, and that every act goes the
// owner's way, also when the worker was killed.

import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { archiveOf } from "../../support/recordings.ts";
import {
  createWebClient,
  PASSWORD,
  type Program,
  type Services,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

let dir: string;
let archive: string;
let model: TestModel;
let services: Services;
let admin: WebClient;
let mina: WebClient;
const workers: Program[] = [];

const NOWHERE = "00000000-0000-4000-8000-000000000000";
const SECRET = "the merger with Acme";

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-admin-jobs-");
  archive = join(dir, "archive");
  await mkdir(archive);
  const engine = join(dir, "engine.sh");
  await writeFile(engine, `#!/bin/sh\n[ -e ${dir}/works ] || { echo no model file >&2; exit 1; }\necho spoken words\n`);
  await chmod(engine, 0o755);
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    archiveRoots: [archive],
    transcription: { engine: "command", command: [engine, "{file}"] },
    dataSources: { down: { url: "postgres://nobody@127.0.0.1:1/none" } },
    turn: { finishMs: 20_000, wrapUpMs: 5_000, claimMs: 300_000, limitMs: 600_000 },
    graceMs: 30_000,
  });
  const web = await services.web();
  admin = web.client;
  await admin.signIn();
  await admin.call("POST", "/internal/users", { name: "mina", role: "user", password: PASSWORD });
  mina = createWebClient(web.socket);
  await mina.signIn("mina");
});
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.child.kill("SIGKILL");
    await worker.exited;
    await services.sql.query("UPDATE owl.worker SET gone_at = now() WHERE id = $1 AND gone_at IS NULL", [worker.id]);
  }
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function worker(): Promise<Program> {
  const started = await services.worker();
  workers.push(started);
  return started;
}

const list = async (query = "") => (await admin.call("GET", `/api/admin/jobs${query}`)).body;
const job = async (kind: string, id: string) => (await admin.call("GET", `/api/admin/jobs/${kind}/${id}`)).body;
const act = (kind: string, id: string, verb: string, key?: string) =>
  admin.call("POST", `/api/admin/jobs/${kind}/${id}/${verb}`, undefined, key ? { "idempotency-key": key } : {});
const over = (kind: string, id: string, state: string) =>
  until(`${kind} ${id} is ${state}`, async () => {
    const now = await job(kind, id);
    return now.state === state && now;
  });
const trail = async (action: string) =>
  (
    await services.sql.query("SELECT account_name, target, detail FROM owl.audit WHERE action = $1 ORDER BY id", [
      action,
    ])
  ).rows;

/** A recording of mina's that no recogniser could read. */
async function failedTranscription(name: string): Promise<string> {
  await archiveOf(join(archive, name), 1);
  const { body } = await mina.call("POST", "/api/transcriptions", { path: join(archive, name, "v0.wav") });
  await over("transcription", body.id, "failed");
  return body.id;
}

async function minaAsks(text: string): Promise<string> {
  const { turnId } = await mina.ask(text);
  await until("it runs and has spoken", async () => {
    const turn = await mina.turn(turnId);
    return turn.state === "running" && turn.answer;
  });
  return turnId;
}

describe("who may look and what is told", () => {
  test("members are refused everything, another site may write nothing, and what is not there is 404", async () => {
    for (const [method, path] of [
      ["GET", "/api/admin/jobs"],
      ["GET", "/api/admin/jobs/counts"],
      ["GET", `/api/admin/jobs/chat/${NOWHERE}`],
      ["POST", `/api/admin/jobs/chat/${NOWHERE}/stop`],
      ["POST", `/api/admin/jobs/transcription/${NOWHERE}/retry`],
      ["POST", "/api/admin/jobs/retry-failed"],
    ] as const) {
      expect(await mina.call(method, path), path).toMatchObject({ status: 403, body: { code: "request.role" } });
    }
    const foreign = { origin: "https://elsewhere.example" };
    expect(await admin.call("POST", "/api/admin/jobs/retry-failed", undefined, foreign)).toMatchObject({
      status: 403,
      body: { code: "request.origin" },
    });
    expect(await act("chat", NOWHERE, "stop")).toMatchObject({ status: 404, body: { code: "job.notFound" } });
    expect((await admin.call("GET", `/api/admin/jobs/nothing/${NOWHERE}`)).status).toBe(400);
    expect((await admin.call("GET", "/api/admin/jobs?state=lost")).status).toBe(400);
    expect((await admin.call("GET", "/api/admin/jobs?before=made-up")).body.code).toBe("page.invalid");
  });

  test("a waiting turn is listed with owner and age, and neither its question nor its title is told anywhere", async () => {
    const { turnId, conversation } = await mina.ask(SECRET);
    const { items } = await list("?kind=chat");
    expect(items).toMatchObject([
      {
        id: turnId,
        kind: "chat",
        state: "queued",
        owner: "mina",
        title: null,
        attempt: 0,
        worker: null,
        endedAt: null,
      },
    ]);
    expect(items[0].ageMs).toBeGreaterThanOrEqual(0);
    expect(items[0].acts).toEqual({ stop: true, retry: null });
    const detail = await job("chat", turnId);
    expect(detail.payload).toEqual({ questionCharacters: SECRET.length });
    const title = (await mina.call("GET", `/api/conversations/${conversation}`)).body.title;
    expect(title).toBe(SECRET);
    expect(JSON.stringify([items, detail])).not.toContain("Acme");
    expect((await act("chat", turnId, "stop")).status).toBe(202);
    expect(await mina.turn(turnId)).toMatchObject({ state: "stopped", message: null });
    expect(await list("?kind=chat")).toEqual({ items: [], next: null });
    expect((await list("?state=stopped&owner=Mina")).items).toMatchObject([{ id: turnId, ageMs: null }]);
    expect((await list("?state=stopped&owner=nobody")).items).toEqual([]);
  });

  test("pages follow one another without gap or double while new jobs arrive, over kinds and by filter", async () => {
    const started: string[] = [];
    for (let n = 0; n < 7; n++) {
      const { body } = await admin.call("POST", "/api/schema-analyses", { dataSource: "down" });
      started.unshift(body.id);
      if (n % 2 === 0) started.unshift((await mina.ask(`question ${n}`)).turnId);
    }
    const seen: string[] = [];
    let mark = "";
    do {
      const { items, next } = await list(`?limit=3${mark}`);
      seen.push(...items.map((one: { id: string }) => one.id));
      await admin.call("POST", "/api/schema-analyses", { dataSource: "down" });
      mark = next === null ? "" : `&before=${encodeURIComponent(next)}`;
    } while (mark !== "");
    expect(seen).toEqual(started);
    expect((await list("?owner=mina")).items).toHaveLength(4);
    expect((await list("?owner=mina&kind=schema-analysis")).items).toEqual([]);
    // All of them are stopped, so that the next test begins with nothing in line.
    for (const one of (await list("?limit=200")).items) await act(one.kind, one.id, "stop");
    expect((await list()).items).toEqual([]);
    expect((await list("?state=ended&limit=200")).items.length).toBeGreaterThan(11);
  });

  test("an upload's name is its owner's and is not told, an archive file's is", async () => {
    await services.sql.query(
      `INSERT INTO owl.upload (id, account_id, name) SELECT gen_random_uuid(), id, 'private talk.wav' FROM owl.account WHERE name = 'mina'`,
    );
    await services.sql.query(
      `INSERT INTO owl.transcription (id, account_id, upload_id, name) SELECT gen_random_uuid(), account_id, id, name FROM owl.upload WHERE name = 'private talk.wav'`,
    );
    await services.sql.query(
      `INSERT INTO owl.transcription (id, account_id, path, name) SELECT gen_random_uuid(), id, '/srv/archive/weekly.wav', 'weekly.wav' FROM owl.account WHERE name = 'mina'`,
    );
    const { items } = await list("?kind=transcription");
    expect(items.map((one: { title: string | null }) => one.title).sort()).toEqual(["weekly.wav", null].sort());
    for (const one of items) {
      expect(JSON.stringify(await job("transcription", one.id))).not.toContain("private talk");
      await act("transcription", one.id, "stop");
    }
  });
});

describe("figures", () => {
  test("of waiting, running and failed jobs are those of the rows, with the instant they were read at", async () => {
    await mina.ask("anyone?");
    await services.sql.query("UPDATE owl.turn SET created_at = now() - interval '10 minutes' WHERE state = 'queued'");
    const { body } = await admin.call("GET", "/api/admin/jobs/counts");
    expect(Number.isNaN(Date.parse(body.asOf))).toBe(false);
    const [first] = body.kinds;
    expect(first).toMatchObject({ kind: "chat", queued: 1, running: 0, oldestWaitingMs: expect.any(Number) });
    expect(first.warnings).toMatchObject([{ what: "waitsLong", limitMs: 300_000 }]);
    for (const one of (await list()).items) await act(one.kind, one.id, "stop");
    const after = (await admin.call("GET", "/api/admin/jobs/counts")).body.kinds;
    expect(after.find((one: { kind: string }) => one.kind === "chat")).toMatchObject({
      queued: 0,
      oldestWaitingMs: null,
      warnings: [],
    });
  });

  test("items of a paused batch wait by intention", async () => {
    const insert = `WITH b AS (
      INSERT INTO owl.batch (id, account_id, kind, request, state, total)
      SELECT gen_random_uuid(), id, 'transcription', '{}', $1, 1 FROM owl.account WHERE name = 'mina' RETURNING id, account_id)
      INSERT INTO owl.transcription (id, account_id, batch_id, path, name, created_at, moved_at)
      SELECT gen_random_uuid(), account_id, id, '/srv/a.wav', 'a.wav', now() - interval '1 hour', now() - interval '1 hour' FROM b`;
    const ofTranscriptions = async () =>
      (await admin.call("GET", "/api/admin/jobs/counts")).body.kinds.find(
        (one: { kind: string }) => one.kind === "transcription",
      );
    await services.sql.query(insert, ["paused"]);
    expect(await ofTranscriptions()).toMatchObject({ queued: 1, oldestWaitingMs: null, warnings: [] });
    await services.sql.query(insert, ["running"]);
    expect(await ofTranscriptions()).toMatchObject({ queued: 2, warnings: [{ what: "waitsLong" }] });
    for (const one of (await list()).items) await act(one.kind, one.id, "stop");
  });
});

describe("acts", () => {
  test("a stop ends another one's running turn as stopped, with what was said, and says who asked", async () => {
    await worker();
    const turnId = await minaAsks("say 3000 words every 20 ms");
    const running = await job("chat", turnId);
    expect(running).toMatchObject({
      state: "running",
      attempt: 1,
      workerLives: true,
      acts: { stop: true, retry: null },
    });
    expect(running.waitedMs).toBeGreaterThanOrEqual(0);
    expect((await act("chat", turnId, "stop", "stop-1")).status).toBe(202);
    expect((await act("chat", turnId, "stop", "stop-1")).status).toBe(202);
    const turn = await mina.ended(turnId);
    expect(turn).toMatchObject({ state: "stopped", message: null });
    expect(turn.answer).toContain("w1 ");
    const told = (await trail("job.stopAsked")).filter((one) => one.target === `chat ${turnId}`);
    expect(told).toMatchObject([{ account_name: "admin", detail: { owner: "mina" } }]);
    // Stopping what has ended changes nothing, and a turn is nobody else's to ask again.
    await act("chat", turnId, "stop");
    expect(await mina.turn(turnId)).toEqual(turn);
    expect(await act("chat", turnId, "retry")).toMatchObject({ status: 409, body: { code: "job.conflict" } });
  });

  test("kill -9 of a worker: its turn is told to have none, a stop takes it, and a transcription is tried again", async () => {
    const { child } = await worker();
    const failed = await failedTranscription("killed");
    const turnId = await minaAsks("say 3000 words every 21 ms");
    child.kill("SIGKILL");
    expect((await act("chat", turnId, "stop")).status).toBe(202);
    expect(await mina.ended(turnId)).toMatchObject({ state: "stopped", message: null });
    expect((await act("transcription", failed, "retry")).status).toBe(202);
    expect(await job("transcription", failed)).toMatchObject({ state: "queued", message: null });
    expect((await act("transcription", failed, "stop")).status).toBe(202);
    expect(await job("transcription", failed)).toMatchObject({ state: "cancelled" });
    expect((await act("transcription", failed, "retry")).status).toBe(202);
    await writeFile(join(dir, "works"), "");
    await worker();
    expect(await over("transcription", failed, "done")).toMatchObject({ attempt: 2, result: { segments: 1 } });
    await rm(join(dir, "works"));
  });

  test("running rows that no living worker holds are counted and marked", async () => {
    await services.sql.query(
      `INSERT INTO owl.worker (id, release, pid, host, heartbeat_at) VALUES ('worker-90', 't', 1, 'h', now() + interval '1 hour')`,
    );
    await services.sql.query(
      `INSERT INTO owl.schema_analysis (id, account_id, data_source, state, attempt, claimed_by, claimed_at)
       SELECT $1, id, 'down', 'running', 1, 'worker-90', now() FROM owl.account WHERE name = 'mina'`,
      [NOWHERE],
    );
    const look = async () => {
      const { items } = await list("?kind=schema-analysis&state=running");
      const { kinds } = (await admin.call("GET", "/api/admin/jobs/counts")).body;
      const own = kinds.find((one: { kind: string }) => one.kind === "schema-analysis");
      return { lives: items[0]?.workerLives, alone: own.withoutWorker, warned: own.warnings.length };
    };
    // Held by a transaction of ours, the row is not the reclaimer's to end meanwhile.
    const holder = await services.sql.connect();
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT 1 FROM owl.schema_analysis WHERE id = $1 FOR UPDATE", [NOWHERE]);
      expect(await look()).toEqual({ lives: true, alone: 0, warned: 0 });
      await services.sql.query("UPDATE owl.worker SET gone_at = now() WHERE id = 'worker-90'");
      expect(await look()).toEqual({ lives: false, alone: 1, warned: 1 });
      await holder.query("ROLLBACK");
    } finally {
      holder.release();
    }
    await over("schema-analysis", NOWHERE, "queued");
  });

  test("an analysis that failed is asked anew, once, and the old one keeps its end", async () => {
    await worker();
    const { body } = await mina.call("POST", "/api/schema-analyses", { dataSource: "down" });
    await over("schema-analysis", body.id, "failed");
    const first = await act("schema-analysis", body.id, "retry", "anew-1");
    expect(first).toMatchObject({ status: 202, body: { retry: "anew" } });
    expect(first.body.id).not.toBe(body.id);
    expect((await act("schema-analysis", body.id, "retry", "anew-1")).body).toEqual(first.body);
    expect(await act("schema-analysis", body.id, "retry")).toMatchObject({
      status: 409,
      body: { code: "job.conflict" },
    });
    expect(await over("schema-analysis", first.body.id, "failed")).toMatchObject({ owner: "mina", title: "down" });
    expect(await job("schema-analysis", body.id)).toMatchObject({ state: "failed" });
    const mine = (await mina.call("GET", "/api/schema-analyses")).body.items;
    expect(mine.filter((one: { dataSource: string }) => one.dataSource === "down").length).toBeGreaterThan(1);
  });

  test("all failed ones of a filter are tried again once, batches run again, and the trail tells how many", async () => {
    const first = await worker();
    await archiveOf(join(archive, "many"), 3);
    const { body } = await mina.call("POST", "/api/batches", { kind: "transcription", path: join(archive, "many") });
    const batch = async () => (await mina.call("GET", `/api/batches/${body.batchId}`)).body;
    await until("the batch failed", async () => (await batch()).state === "failed");
    const alone = await failedTranscription("alone");
    first.child.kill("SIGTERM");
    await first.exited;
    const retry = (filter?: object) => admin.call("POST", "/api/admin/jobs/retry-failed", filter);
    expect((await retry({ kind: "transcription", owner: "admin" })).body).toEqual({ retried: 0, left: false });
    // Two clicks at once: each failed one waits once.
    const [one, two] = await Promise.all([retry({ kind: "transcription" }), retry({ kind: "transcription" })]);
    expect(one.body.retried + two.body.retried).toBe(4);
    expect(await batch()).toMatchObject({ state: "running", counts: { queued: 3, failed: 0 } });
    expect((await list("?state=failed&kind=transcription")).items).toEqual([]);
    await writeFile(join(dir, "works"), "");
    await worker();
    await over("transcription", alone, "done");
    await until("the batch is done", async () => (await batch()).state === "done");
    await rm(join(dir, "works"));
    const told = await trail("jobs.retried");
    expect(told.reduce((sum, entry) => sum + entry.detail.retried, 0)).toBe(4);
  });

  test("a playbook run is not run again by others", async () => {
    await services.sql.query(
      `WITH p AS (INSERT INTO owl.playbook (id, account_id, name, steps)
         SELECT gen_random_uuid(), id, 'Weekly mail', '[]' FROM owl.account WHERE name = 'mina' RETURNING id, account_id)
       INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, state, message, ended_at)
       SELECT $1, account_id, id, 'Weekly mail', '[{"id":"send","tool":"mail","input":{"to":"secret@example.org"}}]',
              'failed', 'Step send failed.', now() FROM p`,
      [NOWHERE],
    );
    expect(await job("playbook", NOWHERE)).toMatchObject({
      title: "Weekly mail",
      payload: { steps: [{ id: "send", tool: "mail" }] },
      result: { steps: [{ id: "send", state: "notReached" }] },
      acts: { stop: false, retry: null },
    });
    expect(JSON.stringify(await job("playbook", NOWHERE))).not.toContain("secret@");
    expect(await act("playbook", NOWHERE, "retry")).toMatchObject({ status: 409, body: { code: "job.conflict" } });
    expect((await admin.call("POST", "/api/admin/jobs/retry-failed", { kind: "playbook" })).body.retried).toBe(0);
  });
});

test("the API document describes the list with examples", async () => {
  const { paths } = (await admin.call("GET", "/api/openapi.json")).body;
  expect(JSON.stringify(paths["/api/admin/jobs"].get)).toContain("weekly-meeting.wav");
  expect(Object.keys(paths)).toContain("/api/admin/jobs/{kind}/{id}/retry");
});
