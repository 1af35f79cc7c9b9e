// Schedules on a real PostgreSQL: two schedulers race for the same ticks under a clock of ours; what is asked by the web
// API becomes ordinary turns and runs.

import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemRandom } from "../../../config/system-time.ts";
import type { Schedule } from "../../../services/core/wire/schedule.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { createQueue, type JobQueue } from "../../../services/db/queue.ts";
import { findSchedule, listTicks } from "../../../services/db/schedules.ts";
import { createScheduler } from "../../../services/schedules/scheduler.ts";
import { type Program, type Services, startServices, until, type WebClient } from "../../support/services.ts";
import { createTestClock } from "../../support/test-clock.ts";

const MINUTE = 60_000;
let services: Services;
let web: Program;
let client: WebClient;
let db: Database;
let queue: JobQueue;
/** What the schedulers of this test take for now; the web, which has another clock, is gone by then. */
let now = Date.parse("2040-03-25T00:00:00Z");

beforeAll(async () => {
  services = await startServices({ limits: { schedules: 3 } });
  await services.worker();
  const started = await services.web();
  web = started;
  client = started.client;
  await client.signIn();
  db = createDatabase({ url: services.url, max: 6, onError: () => undefined });
  queue = createQueue({
    database: db,
    instance: "test",
    upkeep: false,
    onError: () => undefined,
    onWarning: () => undefined,
  });
  await queue.start();
});
afterAll(async () => {
  await queue?.stop();
  await db?.stop();
  await services?.stop();
});

const schedulers = (config = services.config) =>
  [1, 2].map(() =>
    createScheduler({
      db,
      queue,
      clock: { ...createTestClock(), now: () => now },
      random: systemRandom,
      log: pino({ level: "silent" }),
      config,
    }),
  );

async function make(body: Readonly<Record<string, unknown>>): Promise<Schedule> {
  const answer = await client.call("POST", "/api/schedules", { name: "s", zone: "Europe/Berlin", ...body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const ticksOf = (scheduleId: string) => listTicks(db, { scheduleId, before: null, limit: 200 });

/** From now on by this test's clock. */
const settle = (id: string) =>
  services.sql.query(`UPDATE owl.schedule SET planned_at = $2, next_at = $2, due_at = $2 WHERE id = $1`, [
    id,
    new Date(now + MINUTE),
  ]);

test("what cannot be is refused; the account's limit holds; a paused one has no next tick", async () => {
  const refused = async (body: object) =>
    (await client.call("POST", "/api/schedules", { name: "s", cron: "0 9 * * *", zone: "UTC", text: "t", ...body }))
      .body.code;
  expect(await refused({ cron: "* * * *" })).toBe("schedule.invalid");
  expect(await refused({ cron: "0 0 30 2 *" })).toBe("schedule.invalid");
  expect(await refused({ zone: "Mars/Olympus" })).toBe("schedule.invalid");
  expect(await refused({ cron: "* * * * *", jitterS: 60 })).toBe("schedule.invalid");
  expect(await refused({ playbookId: "6f1c3f0e-8d0e-4f57-9a25-0c5b7a3f1d11" })).toBe("request.invalid");
  expect(await refused({ conversationId: "6f1c3f0e-8d0e-4f57-9a25-0c5b7a3f1d11" })).toBe("conversation.notFound");
  const made = await make({ cron: "0 9 * * *", text: "t" });
  const { body: paused } = await client.call("POST", `/api/schedules/${made.id}/pause`);
  expect(paused).toMatchObject({ paused: true, nextAt: null });
  const { body: resumed } = await client.call("POST", `/api/schedules/${made.id}/resume`);
  expect(resumed.nextAt).toBe(made.nextAt);
  const changed = { name: "new", cron: "30 8 * * *", zone: "Asia/Seoul", text: "u", missed: "once", jitterS: 60 };
  const { body: put } = await client.call("PUT", `/api/schedules/${made.id}`, changed);
  expect(put).toMatchObject({ ...changed, overlap: "skip" });
  const { body: plan } = await client.call("POST", "/api/schedules/plan", { cron: "0 9 * * *", zone: "Asia/Seoul" });
  expect(plan.next.map((at: string) => at.slice(11))).toEqual(Array.from({ length: 5 }, () => "00:00:00.000Z"));
  for (const text of ["t", "u"]) await make({ cron: "0 9 * * *", text });
  const over = await client.call("POST", "/api/schedules", { name: "s", cron: "0 9 * * *", zone: "UTC", text: "t" });
  expect([over.status, over.body.code]).toEqual([429, "limit.schedules"]);
  const { body: list } = await client.call("GET", "/api/schedules?limit=2");
  expect([list.items.length, list.next === null]).toEqual([2, false]);
  for (const { id } of (await client.call("GET", "/api/schedules")).body.items) {
    expect((await client.call("DELETE", `/api/schedules/${id}`)).status).toBe(204);
  }
});

test("a run by hand is an ordinary one; what it needs and what runs already are told", async () => {
  const { body: conversation } = await client.call("POST", "/api/conversations", { title: "daily" });
  const made = await make({ cron: "0 9 * * *", text: "SELECT pg_sleep(1), 2 AS two", conversationId: conversation.id });
  const run = await client.call("POST", `/api/schedules/${made.id}/run`);
  expect(run).toMatchObject({ status: 202, body: { conversationId: conversation.id } });
  const again = await client.call("POST", `/api/schedules/${made.id}/run`);
  expect([again.status, again.body.code]).toEqual([409, "schedule.running"]);
  expect((await client.ended(run.body.turnId)).state).toBe("answered");
  expect((await ticksOf(made.id))[0]).toMatchObject({ byHand: true, state: "answered" });
  await client.call("DELETE", `/api/conversations/${conversation.id}`);
  const gone = await client.call("POST", `/api/schedules/${made.id}/run`);
  expect([gone.status, gone.body.code]).toEqual([409, "schedule.refused"]);
  await client.call("DELETE", `/api/schedules/${made.id}`);
  expect((await services.sql.query("SELECT 1 FROM owl.schedule_tick")).rowCount).toBe(0);
});

test("ticks by the clock: each once over two schedulers, outages and a wrong clock; they wait, and fail, as is told", async () => {
  const steps = [{ id: "one", tool: "sql", input: { dataSource: "demo", sql: "SELECT 1 AS n" } }];
  const { body: playbook } = await client.call("POST", "/api/playbooks", { name: "p", steps });
  const often = await make({ cron: "*/5 0-4 * * *", text: "SELECT 1 AS one", overlap: "skip", missed: "once" });
  const slow = await make({ cron: "0 9 * * *", text: "SELECT pg_sleep(2), 2 AS two", overlap: "queue" });
  const broken = await make({ cron: "0 9 * * *", playbookId: playbook.id });
  await client.call("DELETE", `/api/playbooks/${playbook.id}`);
  web.child.kill("SIGTERM");
  await web.exited;

  // A tick that comes while the run before goes on waits for it; a playbook that is gone fails, and fails.
  const [one] = schedulers();
  for (let n = 0; n < 3; n++) {
    await settle(broken.id);
    if (n < 2) await settle(slow.id);
    now += 2 * MINUTE;
    await one?.runOnce();
  }
  expect((await findSchedule(db, broken.id, null))?.outcomes).toEqual(["failed", "failed", "failed"]);
  const [second, first] = await ticksOf(slow.id);
  expect([first?.outcome, second?.reason]).toEqual(["started", "overlap"]);
  await until("the tick that waited is taken and answered", async () => {
    await one?.runOnce();
    const [tick] = await ticksOf(slow.id);
    return tick?.outcome === "started" && tick.state === "answered";
  });

  // Every run is taken for ended at once here: what counts is that no tick is lost or runs twice.
  const begun = Date.parse("2040-03-26T00:00:00Z");
  now = begun;
  await settle(often.id);
  const pass = async () => {
    await services.sql.query("UPDATE owl.schedule SET last_turn = NULL WHERE id = $1", [often.id]);
    await Promise.all(schedulers().map((scheduler) => scheduler.runOnce()));
  };
  for (let n = 0; n < 14; n++) {
    now += 5 * MINUTE;
    await pass();
  }
  const right = now + 60 * 24 * MINUTE;
  for (now of [right, right + 300 * 24 * 60 * MINUTE, right + 6 * MINUTE]) await pass();
  const { rows } = await services.sql.query(
    `SELECT count(*)::int AS ticks, count(DISTINCT turn_id)::int AS turns,
            (SELECT count(*)::int FROM owl.turn WHERE text = 'SELECT 1 AS one') AS asked
       FROM owl.schedule_tick WHERE schedule_id = $1 AND outcome = 'started'`,
    [often.id],
  );
  expect(rows[0]).toMatchObject({ turns: rows[0].ticks, asked: rows[0].ticks });
  const outcomes = (await ticksOf(often.id)).filter(({ tickAt }) => tickAt.getTime() > begun).map((one) => one.outcome);
  expect(outcomes).not.toContain("skipped");
  expect(outcomes.filter((outcome) => outcome === "started").length).toBeGreaterThan(13);
  expect((await findSchedule(db, often.id, null))?.nextAt?.getTime()).toBeLessThan(right + 24 * 60 * MINUTE);

  // An account that holds all it may has no run made for it.
  const [full] = schedulers({ ...services.config, limits: { ...services.config.limits, conversations: 0 } });
  await services.sql.query("UPDATE owl.schedule SET last_turn = NULL WHERE id = $1", [often.id]);
  await settle(often.id);
  now += 2 * MINUTE;
  await full?.runOnce();
  const last = (await ticksOf(often.id)).find(({ tickAt }) => tickAt.getTime() === now - MINUTE);
  expect(last).toMatchObject({ outcome: "refused", reason: "limit" });
});
