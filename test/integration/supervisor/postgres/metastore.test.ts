import { Client } from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { createMetastore, type RunningMetastore } from "../../../../supervisor/postgres/metastore.ts";
import { startTestPostgres, type TestPostgres } from "../../../support/postgres.ts";

let server: TestPostgres;
let url: string;
let metastore: RunningMetastore;
let clients: Client[];

beforeAll(async () => {
  server = await startTestPostgres({ max_connections: "30" });
  await server.template("workers", async (to) => {
    const client = new Client({ connectionString: to });
    await client.connect();
    await client.query(`CREATE SCHEMA owl;
      CREATE TABLE owl.worker (id text PRIMARY KEY, release text, pid int, host text, started_at timestamptz DEFAULT now(),
        heartbeat_at timestamptz DEFAULT now(), draining_since timestamptz, stopped_at timestamptz, gone_at timestamptz,
        jobs jsonb NOT NULL DEFAULT '{}');
      CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA owl TO plain; GRANT ALL ON ALL TABLES IN SCHEMA owl TO plain;`);
    await client.end();
  });
});
afterAll(() => server.stop());

beforeEach(async () => {
  url = await server.database("workers");
  metastore = open(url.replace("postgres@", "plain@"));
  clients = [];
});
afterEach(async () => {
  await metastore.stop();
  for (const client of clients) await client.end();
});

function open(at: string): RunningMetastore {
  return createMetastore({ url: at, clock: systemClock, log: pino({ level: "silent" }), stalledAfterMs: 30_000 });
}

async function connect(application?: string): Promise<Client> {
  const client = new Client({ connectionString: url, ...(application ? { application_name: application } : {}) });
  await client.connect();
  clients.push(client);
  return client;
}

/** Sessions end on the server a moment after their client closed. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return;
    await systemClock.sleep(10);
  }
  throw new Error("did not come true");
}

describe("connections", () => {
  test("are counted by application over all roles and databases, the peak kept, with the server's limit", async () => {
    await connect("owl/web-7");
    const second = await connect("owl/web-7");
    await connect("psql");
    await connect();
    await until(async () => (await metastore.connections())?.byApplication["(unnamed)"] === 1);
    const first = await metastore.connections();
    expect(first).toMatchObject({ maxConnections: 30, limit: 27 });
    expect(first?.byApplication).toMatchObject({ "owl/web-7": 2, psql: 1, "(unnamed)": 1 });
    clients = clients.filter((one) => one !== second);
    await second.end();
    await until(async () => (await metastore.connections())?.byApplication["owl/web-7"] === 1);
    const later = await metastore.connections();
    expect(later?.open).toBe((first?.open ?? 0) - 1);
    expect(later?.peak).toBeGreaterThanOrEqual(first?.open ?? 0);
  });

  test("a role's own limit below the server's is the limit", async () => {
    const admin = await connect();
    await admin.query("ALTER ROLE plain CONNECTION LIMIT 9");
    expect(await metastore.connections()).toMatchObject({ maxConnections: 30, limit: 9 });
    await admin.query("ALTER ROLE plain CONNECTION LIMIT -1");
  });
});

describe("workers", () => {
  test("have an age by the database's clock and a state; those that stopped are not listed, nor gone ones that live no more", async () => {
    const admin = await connect();
    await admin.query(`INSERT INTO owl.worker (id, started_at, heartbeat_at, draining_since, stopped_at, gone_at, jobs) VALUES
      ('worker-1', now() - interval '4 h', now() - interval '2 s', NULL, NULL, NULL, '{"chat": 2}'),
      ('worker-2', now() - interval '3 h', now() - interval '3 s', now(), NULL, NULL, '{}'),
      ('worker-3', now() - interval '2 h', now() - interval '40 s', now(), NULL, NULL, '{}'),
      ('worker-4', now(), now(), NULL, now(), NULL, '{}'), ('worker-5', now(), now(), NULL, NULL, now(), '{}')`);
    const workers = await metastore.workers([]);
    expect(workers?.map(({ id, state }) => [id, state])).toEqual([
      ["worker-1", "active"],
      ["worker-2", "draining"],
      ["worker-3", "stalled"],
    ]);
    expect(workers?.[0]?.jobs).toEqual({ chat: 2 });
    expect(workers?.[2]?.heartbeatAgeMs).toBeGreaterThanOrEqual(40_000);
    // The reclaimers may have marked it before we looked; whether its process lives is what we know.
    const withLiving = await metastore.workers(["worker-4", "worker-5"]);
    expect(withLiving?.map(({ id }) => id)).toEqual(["worker-1", "worker-2", "worker-3", "worker-5"]);
  });

  test("a worker marked gone is told to listeners once, by its id", async () => {
    const listener = await connect();
    const heard: (string | undefined)[] = [];
    listener.on("notification", (message) => heard.push(message.payload));
    await listener.query("LISTEN owl_worker_gone");
    await listener.query("INSERT INTO owl.worker (id) VALUES ('worker-1')");
    expect(await metastore.markGone("worker-1")).toBe(true);
    expect(await metastore.markGone("worker-1")).toBe(true);
    expect(await metastore.markGone("no-such-worker")).toBe(true);
    await until(async () => heard.length > 0);
    const { rows } = await listener.query("SELECT gone_at IS NOT NULL AS gone FROM owl.worker");
    expect(rows).toEqual([{ gone: true }]);
    expect(heard).toEqual(["worker-1"]);
  });
});

describe("a database that does not answer", () => {
  test("gives null within the bound, and since when it answers is forgotten and found again", async () => {
    expect(metastore.answeringSince()).toBeNull();
    await metastore.workers([]);
    const since = metastore.answeringSince();
    expect(since).not.toBeNull();
    await metastore.workers([]);
    expect(metastore.answeringSince()).toBe(since);

    const away = open("postgres://nobody@/none?host=/nonexistent");
    expect(await away.connections()).toBeNull();
    expect(await away.workers([])).toBeNull();
    expect(await away.markGone("worker-1")).toBe(false);
    expect(away.answeringSince()).toBeNull();
    await away.stop();
    await away.stop();
  });

  test("a table that is not there yet is no silence", async () => {
    const bare = open(await server.database());
    expect(await bare.workers([])).toBeNull();
    expect(bare.answeringSince()).not.toBeNull();
    await bare.stop();
  });
});
