// A database that has been used for years: 1,000,000 turns, 2,400,000 events, 1,000,000 other jobs of 501 accounts. What
// is asked of the web as people ask it, what the sweeps take, and what an account's end costs; and that none of it reads
// a large table from one end to the other (by the server's own count).

import { randomUUID } from "node:crypto";
import pg from "pg";
import { DEFAULTS } from "../../../config/defaults.ts";
import { systemClock } from "../../../config/system-time.ts";
import { buildLateIndexes } from "../../../services/db/late-indexes.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { createQueue } from "../../../services/db/queue.ts";
import { DELETION_SWEEPS, retentionSweeps, type Sweep } from "../../../services/db/retention.ts";
import { cursorOf } from "../../../services/web/routes/paging.ts";
import { startServices, type WebClient } from "../../support/services.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";
import { enqueueBatch, ITEMS } from "./million-jobs.ts";
import { LONG_TURNS, TURNS, writeRows } from "./written-rows.ts";

const SAMPLES = scaled(100, 20);
const STEPS = 100;
const ROUTE_MS = 200;
const SEARCH_MS = 1_000;
const STEP_MS = 500;
/** What the server counts comes to be seen so late. */
const COUNTED_MS = 1_500;
const SEARCHES = ["회의록을", "suppliers", "invoices that nobody", "배송이 늦은", "zzzz nothing"];

export const millionRowsBench: Bench = {
  name: "million-rows",
  async run(log) {
    const settings = { shared_buffers: "512MB", maintenance_work_mem: "512MB", max_wal_size: "8GB" };
    const services = await startServices({ limits: { ...DEFAULTS.accountLimits, conversations: TURNS } }, settings);
    const onError = () => undefined;
    const database = createDatabase({ url: services.url, max: 4, onError });
    const queue = createQueue({ database, instance: "bench", upkeep: false, onError, onWarning: onError });
    const admin = new pg.Client({ connectionString: services.url });
    await admin.connect();
    try {
      await queue.start();
      const ownerId = (await admin.query<{ id: string }>("SELECT id FROM owl.account")).rows[0]?.id ?? "";
      const longId = await writeRows(admin, ownerId, log);
      log("building indexes");
      const { refused } = await buildLateIndexes(services.url, new AbortController().signal);
      if (refused.length > 0) throw new Error(`an index could not be built: ${refused[0]?.name}`);
      await admin.query("VACUUM (ANALYZE)");
      await admin.query("CHECKPOINT");
      const bed: Bed = { database, admin, ownerId, longId, log };
      const swept = await sweepRows(bed);
      await admin.query("UPDATE owl.sweep SET mark_at = now() WHERE name = 'events'");
      const { client, child, exited } = await services.web();
      await client.signIn();
      const asked = await routeRows(bed, client);
      child.kill("SIGTERM");
      await exited;
      const ended = await accountEnd(bed);
      const batches: number[] = [];
      for (let n = 0; n < 5; n++) batches.push(await enqueueBatch({ database, queue, accountId: ownerId }));
      return [
        ...asked,
        row(`a batch of ${ITEMS} items put in line`, batches, { mostMs: 1_000, whole: 0, at: "p50" }),
        ...swept,
        ended,
      ];
    } finally {
      await admin.end();
      await queue.stop();
      await database.stop();
      await services.stop();
    }
  },
};

interface Bed {
  readonly database: Database;
  readonly admin: pg.Client;
  readonly ownerId: string;
  readonly longId: string;
  readonly log: (line: string) => void;
}

/** Rows of our tables read without an index so far, the small tables left out. */
async function wholeReads(admin: pg.Client): Promise<number> {
  // What we read ourselves is counted by then as well.
  await admin.query("SELECT pg_stat_force_next_flush()");
  await systemClock.sleep(COUNTED_MS);
  const { rows } = await admin.query<{ n: number }>(
    `SELECT coalesce(sum(seq_tup_read), 0)::float8 AS n FROM pg_stat_user_tables
      WHERE schemaname = 'owl' AND relname IN ('turn', 'turn_event', 'conversation', 'transcription', 'playbook_run',
                                               'schema_analysis', 'audit')`,
  );
  return rows[0]?.n ?? 0;
}

function row(
  work: string,
  samples: readonly number[],
  goal: { readonly mostMs: number; readonly whole: number; readonly at?: "p50" | "p99"; readonly note?: string },
): Row {
  const summary = summaryOf(samples);
  const at = goal.at ?? "p99";
  return {
    work: `${work}, beside ${TURNS.toLocaleString("en")} turns and as many other jobs`,
    goal: `${at} at most ${goal.mostMs} ms, no table read whole`,
    measured: `p50 ${summary.p50.toFixed(1)} ms, p99 ${summary.p99.toFixed(1)} ms; ${goal.whole} rows read without an index`,
    met: summary[at] <= goal.mostMs && goal.whole === 0,
    unit: "ms",
    summary,
    ...(goal.note === undefined ? {} : { note: goal.note }),
  };
}

async function measured(
  { admin, log }: Bed,
  work: string,
  mostMs: number,
  act: (n: number) => Promise<unknown>,
): Promise<Row> {
  const samples: number[] = [];
  await act(0);
  const before = await wholeReads(admin);
  for (let n = 0; n < SAMPLES; n++) {
    const from = performance.now();
    await act(n);
    samples.push(performance.now() - from);
  }
  const made = row(work, samples, { mostMs, whole: (await wholeReads(admin)) - before });
  log(`${work}: ${made.measured}`);
  return made;
}

async function routeRows(bed: Bed, client: WebClient): Promise<readonly Row[]> {
  const { admin, ownerId, longId } = bed;
  const get = async (path: string) => {
    const { status, body } = await client.call("GET", path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const deep = async (table: string, key: string, where = "true") => {
    const { rows } = await admin.query<{ id: string; cursor: string }>(
      `SELECT id, (extract(epoch FROM ${key}) * 1000000)::bigint::text AS cursor FROM owl.${table}
        WHERE account_id = $1 AND ${where} ORDER BY ${key}
        OFFSET (SELECT count(*) / 2 FROM owl.${table} WHERE account_id = $1 AND ${where}) LIMIT 1`,
      [ownerId],
    );
    return cursorOf(rows[0]?.cursor ?? "", rows[0]?.id ?? "");
  };
  const conversations = await deep("conversation", "updated_at", "archived_at IS NULL");
  const recordings = await deep("transcription", "created_at");
  const ended = await deep("turn", "ended_at");
  const states = ["unfinished", "ended", "failed"];
  return [
    await measured(bed, "a deep page of conversations", ROUTE_MS, () =>
      get(`/api/conversations?next=${conversations}`),
    ),
    await measured(bed, "a deep page of recordings", ROUTE_MS, () => get(`/api/transcriptions?next=${recordings}`)),
    await measured(bed, "a page of 50 large batches", ROUTE_MS, () => get("/api/batches")),
    await measured(bed, "a search", SEARCH_MS, (n) =>
      get(`/api/conversations?search=${encodeURIComponent(SEARCHES[n % SEARCHES.length] ?? "")}`),
    ),
    await measured(bed, "the administrators' system page", ROUTE_MS, () => get("/api/admin/system")),
    await measured(bed, "the administrators' counts of jobs", ROUTE_MS, () => get("/api/admin/jobs/counts")),
    await measured(bed, "jobs by owner, deep pages too", ROUTE_MS, (n) =>
      get(`/api/admin/jobs?owner=member-${n}&state=${states[n % 3]}${n % 2 === 0 ? "" : `&before=${ended}`}`),
    ),
    await measured(bed, `a conversation of ${LONG_TURNS} turns, a page of 50`, ROUTE_MS, () =>
      get(`/api/conversations/${longId}?limit=50`),
    ),
    await measured(bed, `a conversation of ${LONG_TURNS} turns, all its pages`, 10 * ROUTE_MS, async () => {
      let turns = 0;
      for (let before: string | null = ""; before !== null; ) {
        const page = await get(`/api/conversations/${longId}?limit=200${before === "" ? "" : `&before=${before}`}`);
        turns += page.turns.length;
        before = page.earlier;
      }
      if (turns !== LONG_TURNS) throw new Error(`its pages hold ${turns} turns`);
    }),
    await measured(bed, "what every account holds", 5 * ROUTE_MS, () => get("/api/admin/users")),
  ];
}

/** One step of a sweep in its transaction: how many rows, how many ms. */
async function timed(database: Database, { step }: Sweep): Promise<{ readonly n: number; readonly ms: number }> {
  const from = performance.now();
  const n = await database.transaction(step);
  return { n, ms: performance.now() - from };
}

async function sweepRows({ database, admin, log }: Bed): Promise<readonly Row[]> {
  const before = await wholeReads(admin);
  const [events] = retentionSweeps(DEFAULTS.retention).filter(({ name }) => name === "events");
  if (events === undefined) throw new Error("there is no sweep of events");
  const steps: number[] = [];
  let turns = 0;
  for (let n = 0; n < STEPS; n++) {
    const { n: swept, ms } = await timed(database, events);
    turns += swept;
    steps.push(ms);
  }
  const perS = turns / (steps.reduce((sum, ms) => sum + ms, 0) / 1_000);
  log(`events of ${turns} turns swept, ${perS.toFixed(0)} turns a second`);
  // As on an installation where everything has been swept: nothing is left to do, for each of them.
  await admin.query("UPDATE owl.sweep SET mark_at = now() - interval '7 days' WHERE name = 'events'");
  const idle: number[] = [];
  for (const sweep of [...retentionSweeps(DEFAULTS.retention), ...DELETION_SWEEPS]) {
    const { n, ms } = await timed(database, sweep);
    if (n === 0) idle.push(ms);
    log(`${sweep.name}: ${n} rows, ${ms.toFixed(1)} ms`);
  }
  const whole = (await wholeReads(admin)) - before;
  return [
    row("a step of the events' sweep (50 turns)", steps, {
      mostMs: STEP_MS,
      whole,
      note: `${perS.toFixed(0)} turns a second`,
    }),
    row("a sweep that finds nothing", idle, { mostMs: STEP_MS, whole }),
  ];
}

/** A member goes with everything: every step, until the account itself is gone. */
async function accountEnd({ database, admin, log }: Bed): Promise<Row> {
  const { rows } = await admin.query<{ id: string }>(
    "UPDATE owl.account SET deleted_at = now() WHERE name = 'member-1' RETURNING id",
  );
  const id = rows[0]?.id ?? randomUUID();
  const before = await wholeReads(admin);
  const steps: number[] = [];
  for (let isThere = true; isThere; ) {
    for (const sweep of DELETION_SWEEPS) steps.push((await timed(database, sweep)).ms);
    isThere = (await admin.query("SELECT 1 FROM owl.account WHERE id = $1", [id])).rowCount === 1;
    if (steps.length > 20_000) throw new Error("the account does not come to its end");
  }
  log(`the account was gone after ${steps.length} steps`);
  return row("a step of erasing an account", steps, {
    mostMs: STEP_MS,
    whole: (await wholeReads(admin)) - before,
    note: `${steps.length} steps`,
  });
}
