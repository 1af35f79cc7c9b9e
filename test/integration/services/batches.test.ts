// Batches over the real web, a real PostgreSQL with pg-boss and real worker processes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { archiveOf, engineScript } from "../../support/recordings.ts";
import { type Services, startServices, until, type WebClient } from "../../support/services.ts";

let services: Services;
let web: WebClient;
let engine: Awaited<ReturnType<typeof engineScript>>;
let archive: string;
let dir: string;
let socket: string;

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-batches-");
  archive = join(dir, "archive");
  await mkdir(archive);
  engine = await engineScript(dir, 0.1);
  services = await startServices({
    archiveRoots: [archive],
    transcription: { engine: "command", command: engine.command },
  });
  const program = await services.web();
  socket = program.socket;
  web = program.client;
  await web.signIn();
});
afterAll(async () => {
  await services.stop();
  await rm(dir, { recursive: true, force: true });
});

const request = (name: string) => ({ kind: "transcription", path: join(archive, name) });

async function counted(): Promise<Record<string, number>> {
  const { rows } = await services.sql.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
      WHERE table_schema IN ('owl', 'pgboss') AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const found = await services.sql.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${name}`);
    counts[name] = found.rows[0]?.n ?? -1;
  }
  return counts;
}

async function batch(id: string) {
  return (await web.call("GET", `/api/batches/${id}`)).body;
}

async function start(name: string, count: number, seconds?: number): Promise<string> {
  await archiveOf(join(archive, name), count, seconds);
  const { status, body } = await web.call("POST", "/api/batches", request(name));
  expect(status).toBe(202);
  return body.batchId;
}

const over = (id: string, boundMs = 60_000) =>
  until(
    `batch ${id} is over`,
    async () => {
      const now = await batch(id);
      return now.endedAt !== null && now.counts.running === 0 && now;
    },
    boundMs,
  );

describe("a plan", () => {
  test("names the recordings, tells why it skips the others, and writes nothing", async () => {
    const dir = await archiveOf(join(archive, "plan"), 3);
    await writeFile(join(dir, "notes.txt"), "not a recording");
    await writeFile(join(dir, "empty.wav"), "");
    await writeFile(join(dir, "..", "..", "outside.wav"), "x");
    await symlink(join(archive, "..", "outside.wav"), join(dir, "climbs.wav"));
    const before = await counted();
    const { status, body } = await web.call("POST", "/api/batches/plan", request("plan"));
    expect(status).toBe(200);
    expect(body.items.map((item: { name: string }) => item.name)).toEqual(["v0.wav", "v1.wav", "v2.wav"]);
    expect(body.count).toBe(3);
    expect(body.estimateSeconds).toBeGreaterThan(0);
    const reasons = new Map(body.skipped.map((one: { path: string; reason: string }) => [one.path, one.reason]));
    expect(reasons).toEqual(
      new Map([
        [join(dir, "climbs.wav"), "a link that leaves the archive folders"],
        [join(dir, "empty.wav"), "the file is empty"],
        [join(dir, "notes.txt"), "not a recording (.txt)"],
      ]),
    );
    expect(await counted()).toEqual(before);
  });

  test.each([
    ["/etc", 403],
    ["/nowhere/at/all", 403],
    ["../etc", 403],
  ])("of a path outside the roots is refused: %s", async (path, status) => {
    expect((await web.call("POST", "/api/batches/plan", { kind: "transcription", path })).status).toBe(status);
  });

  test("refuses `..` and links that leave the roots, and knows what is not there", async () => {
    const climbing = { kind: "transcription", path: `${archive}/../../etc` };
    expect((await web.call("POST", "/api/batches/plan", climbing)).body.code).toBe("path.outside");
    await symlink("/etc", join(archive, "link-out"));
    expect((await web.call("POST", "/api/batches/plan", request("link-out"))).body.code).toBe("path.outside");
    expect((await web.call("POST", "/api/batches/plan", request("not-there"))).status).toBe(404);
    expect((await web.call("POST", "/api/batches", request("not-there"))).status).toBe(404);
  });
});

describe("enqueueing", () => {
  test("takes 10,000 items in one request and one transaction", async () => {
    const dir = join(archive, "large");
    await mkdir(dir);
    for (let i = 0; i < 10_000; i++) await writeFile(join(dir, `${i}.wav`), "RIFF");
    const { status, body } = await web.call("POST", "/api/batches", request("large"));
    expect(status).toBe(202);
    const now = await batch(body.batchId);
    expect(now).toMatchObject({ progress: 0, throughput: null, etaSeconds: null });
    expect(now.counts).toEqual({ queued: 10_000, running: 0, done: 0, failed: 0, cancelled: 0 });
    const { rows } = await services.sql.query(
      `SELECT count(DISTINCT xmin::text)::int AS transactions, count(*)::int AS items FROM owl.transcription WHERE batch_id = $1`,
      [body.batchId],
    );
    expect(rows[0]).toEqual({ transactions: 1, items: 10_000 });
    const jobs = await services.sql.query(
      `SELECT count(*)::int AS n FROM pgboss.job j JOIN owl.transcription t ON t.queue_job = j.id WHERE t.batch_id = $1`,
      [body.batchId],
    );
    expect(jobs.rows[0]?.n).toBe(10_000);
    const path = `/api/batches/${body.batchId}`;
    expect((await web.call("DELETE", path)).body).toMatchObject({ code: "batch.conflict", status: 409 });
    expect((await web.call("POST", `${path}/cancel`)).status).toBe(202);
    expect((await batch(body.batchId)).counts).toMatchObject({ queued: 0, running: 0, cancelled: 10_000 });
    // Deleted it is gone for its owner at once, with every item, however many the sweep then takes apart.
    const [item] = (await web.call("GET", `${path}/items?limit=1`)).body.items;
    expect((await web.call("GET", `/api/transcriptions/${item.id}`)).status).toBe(200);
    expect((await web.call("DELETE", path)).status).toBe(204);
    for (const gone of [path, `${path}/items`, `/api/transcriptions/${item.id}`])
      expect((await web.call("GET", gone)).status, gone).toBe(404);
    expect((await web.call("DELETE", path)).status).toBe(404);
    expect(JSON.stringify((await web.call("GET", "/api/batches")).body)).not.toContain(body.batchId);
  });

  test("twice under one key gives one batch, also when the folder is gone by then", async () => {
    await archiveOf(join(archive, "twice"), 2);
    const send = (body: object) => web.call("POST", "/api/batches", body, { "idempotency-key": "twice-1" });
    const [first, second] = await Promise.all([send(request("twice")), send(request("twice"))]);
    expect(second.body.batchId).toBe(first.body.batchId);
    await rm(join(archive, "twice"), { recursive: true });
    expect((await send(request("twice"))).body.batchId).toBe(first.body.batchId);
    expect((await send(request("other"))).status).toBe(422);
    await web.call("POST", `/api/batches/${first.body.batchId}/cancel`);
  });

  test("nothing to transcribe is refused and leaves no row", async () => {
    await mkdir(join(archive, "none"));
    const before = await counted();
    expect((await web.call("POST", "/api/batches", request("none"))).status).toBe(400);
    expect((await web.call("POST", "/api/batches", { kind: "transcription" })).status).toBe(400);
    expect((await web.call("POST", "/api/batches", { kind: "chat", path: archive })).status).toBe(400);
    expect(await counted()).toEqual(before);
  });
});

describe("a running batch", () => {
  test("loses no item and counts none twice when a worker is killed in the middle, and the texts are right", async () => {
    const alone = await services.worker();
    const reference = await over(await start("reference", 12));
    expect(reference.counts.done).toBe(12);
    const victim = await services.worker();
    const id = await start("killed", 12);
    await until("it is under way", async () => (await batch(id)).counts.done >= 3);
    victim.child.kill("SIGKILL");
    await victim.exited;
    const end = await over(id);
    expect(end).toMatchObject({ state: "done", progress: 1, etaSeconds: null });
    expect(end.counts).toEqual({ queued: 0, running: 0, done: 12, failed: 0, cancelled: 0 });
    const texts = await services.sql.query(
      `SELECT t.position, string_agg(s.text, ' ' ORDER BY s.n) AS text FROM owl.transcription t
         JOIN owl.segment s ON s.transcription_id = t.id WHERE t.batch_id = ANY($1) GROUP BY t.batch_id, t.position`,
      [[id, reference.id]],
    );
    expect(texts.rows).toHaveLength(24);
    expect(new Set(texts.rows.map((row) => row.text)).size).toBe(1);
    alone.child.kill("SIGTERM");
    expect((await alone.exited).code).toBe(0);
  });

  test("goes on to its end when the client that started it and the one that watched it are killed", async () => {
    await archiveOf(join(archive, "laptop"), 12);
    const program = new URL("../../support/programs/batch-client.ts", import.meta.url).pathname;
    const client = async (...args: string[]) => {
      const child = spawn(process.execPath, [program, socket, ...args], { stdio: ["ignore", "pipe", "inherit"] });
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const kill = async () => {
        child.kill("SIGKILL");
        await once(child, "exit");
      };
      return { id: line.toString().trim(), kill };
    };
    const starter = await client("start", join(archive, "laptop"));
    const watcher = await client("watch", starter.id);
    const worker = await services.worker();
    await until("it is under way", async () => (await batch(starter.id)).counts.done >= 1);
    await Promise.all([starter.kill(), watcher.kill()]);
    expect((await over(starter.id)).counts).toMatchObject({ done: 12, failed: 0 });
    worker.child.kill("SIGTERM");
    await worker.exited;
  });

  test("whose recording ends every worker is failed in the end, and with it the batch", async () => {
    await archiveOf(join(archive, "poison"), 1);
    const poison = join(dir, "poison.sh");
    await writeFile(poison, "#!/bin/sh\nkill -9 $PPID\n");
    await chmod(poison, 0o755);
    const { body } = await web.call("POST", "/api/batches", request("poison"));
    const transcription = { engine: "command", command: [poison, "{file}"] } as const;
    let workers = 0;
    while ((await batch(body.batchId)).endedAt === null) {
      expect(workers).toBeLessThan(10);
      const worker = await services.worker(undefined, { transcription });
      workers += 1;
      await worker.exited;
      // As owld does when it sees a worker's process exit.
      await services.sql.query("UPDATE owl.worker SET gone_at = clock_timestamp() WHERE id = $1", [worker.id]);
      await until("it is reclaimed", async () => (await batch(body.batchId)).counts.running === 0);
    }
    const end = await batch(body.batchId);
    expect(end).toMatchObject({ state: "failed", counts: { failed: 1, queued: 0, running: 0 } });
    const { items } = (await web.call("GET", `/api/batches/${body.batchId}/items`)).body;
    expect(items[0].message).toContain("lost several times");
  });

  test("goes on when a status view is closed, and its items carry on through pause and resume", async () => {
    const worker = await services.worker();
    const id = await start("paused", 16);
    const watching = web.events(`/api/batches/${id}/events`, { stop: () => true });
    expect((await watching)[0]?.event).toBe("state");
    await until("it is under way", async () => (await batch(id)).counts.done >= 3);
    expect((await web.call("POST", `/api/batches/${id}/pause`)).status).toBe(202);
    const still = await until("nothing runs any more", async () => {
      const now = await batch(id);
      return now.counts.running === 0 && now;
    });
    expect(still).toMatchObject({ state: "paused", etaSeconds: null });
    expect(still.counts.queued).toBeGreaterThan(0);
    expect(still.progress).toBeCloseTo(still.counts.done / 16, 5);
    const { rows } = await services.sql.query(
      `SELECT count(*)::int AS n FROM pgboss.job j JOIN owl.transcription t ON t.queue_job = j.id
        WHERE t.batch_id = $1 AND j.state = 'created'`,
      [id],
    );
    expect(rows[0]?.n).toBe(0);
    expect((await web.call("POST", `/api/batches/${id}/resume`)).status).toBe(202);
    expect((await over(id)).counts).toMatchObject({ done: 16, failed: 0, cancelled: 0 });
    expect((await web.call("POST", `/api/batches/${id}/pause`)).status).toBe(409);
    worker.child.kill("SIGTERM");
    await worker.exited;
  });

  test("cancelled runs nothing more; retried it does what was left", async () => {
    const worker = await services.worker();
    const id = await start("cancelled", 16);
    await until("it is under way", async () => (await batch(id)).counts.done >= 2);
    expect((await web.call("POST", `/api/batches/${id}/cancel`)).status).toBe(202);
    const stopped = await over(id);
    expect(stopped.state).toBe("cancelled");
    expect(stopped.counts.cancelled).toBeGreaterThan(0);
    expect(stopped.counts.cancelled + stopped.counts.done).toBe(16);
    expect((await web.call("POST", `/api/batches/${id}/retry`)).status).toBe(202);
    expect((await over(id)).counts).toMatchObject({ done: 16, cancelled: 0 });
    expect((await web.call("POST", `/api/batches/${id}/retry`)).status).toBe(409);
    worker.child.kill("SIGTERM");
    await worker.exited;
  });

  test("with a file that is no recording ends as failed, tells why, and done + failed is all", async () => {
    await archiveOf(join(archive, "mixed"), 3);
    await writeFile(join(archive, "mixed", "fake.wav"), "this is a text");
    const worker = await services.worker();
    const { body } = await web.call("POST", "/api/batches", request("mixed"));
    const end = await over(body.batchId);
    expect(end).toMatchObject({ state: "failed", counts: { done: 3, failed: 1 } });
    const items = (await web.call("GET", `/api/batches/${body.batchId}/items?state=failed`)).body.items;
    expect(items).toEqual([
      expect.objectContaining({ name: "fake.wav", message: "This file is not an audio or video recording." }),
    ]);
    const streamed = await web.events(`/api/batches/${body.batchId}/events`);
    expect(streamed.map((event) => event.event)).toEqual(["end"]);
    const resumed = await web.events(`/api/batches/${body.batchId}/events`, { lastId: streamed[0]?.id });
    expect(resumed).toEqual([]);
    worker.child.kill("SIGTERM");
    await worker.exited;
  });

  test("is handed back by a stopping worker without an attempt lost, and another one finishes it", async () => {
    const first = await services.worker();
    const id = await start("handed", 1, 200);
    await until("some segments are there", async () => {
      const { rows } = await services.sql.query(
        `SELECT count(*)::int AS n FROM owl.segment s JOIN owl.transcription t ON t.id = s.transcription_id WHERE t.batch_id = $1`,
        [id],
      );
      return rows[0]?.n >= 1;
    });
    first.child.kill("SIGTERM");
    expect((await first.exited).code).toBe(0);
    const kept = await services.sql.query(
      `SELECT t.state, t.losses, count(*)::int AS n FROM owl.transcription t JOIN owl.segment s ON s.transcription_id = t.id
        WHERE t.batch_id = $1 GROUP BY t.id`,
      [id],
    );
    expect(kept.rows[0]).toMatchObject({ state: "queued", losses: 0 });
    const before = (await readFile(engine.calls, "utf8")).split("\n").length;
    const second = await services.worker();
    expect((await over(id)).counts.done).toBe(1);
    const total = await services.sql.query(`SELECT segments_total AS n FROM owl.transcription WHERE batch_id = $1`, [
      id,
    ]);
    const after = (await readFile(engine.calls, "utf8")).split("\n").length;
    expect(after - before).toBe(total.rows[0].n - kept.rows[0].n);
    second.child.kill("SIGTERM");
    await second.exited;
  });
});
