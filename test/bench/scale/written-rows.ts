// What years of many members leave behind, written by SQL: ended turns with their events, recordings, runs, analyses, an
// audit trail. A twelfth of it is the administrator's, who also has one conversation of 1,000 turns.

import type pg from "pg";
import { scaled } from "../figures.ts";

export const TURNS = scaled(1_000_000, 50_000);
/** Of the oldest turns: those that a sweep takes first. */
export const EVENTS = Math.round(TURNS * 2.4);
/** Recordings, runs and analyses together. */
export const JOBS = TURNS;
export const LONG_TURNS = 1_000;
const BATCHES = 50;
const BATCH_ITEMS = scaled(5_000, 200);
const MEMBERS = 500;
const TURNS_EACH = 4;
const WITH_EVENTS = EVENTS / 4;

const WORDS = `ARRAY['the sales of the north','orders that are late','어제 회의록을 정리했습니다','revenue by region and month',
  'customers without an order','재고가 부족한 품목','the recording of the meeting','a table of all suppliers','월별 매출 추이',
  'what changed since last week','invoices that nobody paid','배송이 늦은 주문 목록','the longest running query','a summary in two lines']`;
const said = (n: string) => Array.from({ length: 6 }, (_, k) => `(${WORDS})[1 + (${n} * ${k * 2 + 3} + ${k}) % 14]`);
const textOf = (n: string) => `concat_ws(', ', 'about ' || ${n}, ${said(n).slice(0, 2).join(", ")})`;
const answerOf = (n: string) => `concat_ws('. ', ${said(n).join(", ")}, md5(${n}::text))`;
/** Spread over ten months. */
const at = (n: string, of: number) => `now() - interval '300 days' * (${n}::float8 / ${of}) - interval '1 hour'`;

/** On a database with one account, the administrator; `admin` is a superuser's. Answers the long conversation's id. */
export async function writeRows(admin: pg.Client, ownerId: string, log: (line: string) => void): Promise<string> {
  const run = async (what: string, text: string) => {
    log(`writing ${what}`);
    await admin.query(text);
  };
  const owner = (n: string) =>
    `CASE WHEN ${n} % 12 = 0 THEN '${ownerId}'::uuid ELSE (SELECT m.id FROM bench_member m WHERE m.k = ${n} % ${MEMBERS}) END`;
  // Without triggers and checks of foreign keys: what is written is right.
  await admin.query("SET statement_timeout = 0; SET synchronous_commit = off; SET session_replication_role = replica");
  await run(
    "members",
    `INSERT INTO owl.account (id, name, role, password_hash)
       SELECT gen_random_uuid(), 'member-' || n, 'member', '' FROM generate_series(0, ${MEMBERS - 1}) n;
     CREATE TABLE bench_member AS SELECT id, substr(name, 8)::int AS k FROM owl.account WHERE name LIKE 'member-%';
     ALTER TABLE bench_member ADD PRIMARY KEY (k);
     INSERT INTO owl.playbook (id, account_id, name, steps) SELECT gen_random_uuid(), id, 'monthly', '[]' FROM bench_member`,
  );
  const conversations = TURNS / TURNS_EACH;
  await run(
    `${conversations} conversations`,
    `CREATE TABLE bench_conversation AS
       SELECT gen_random_uuid() AS id, ${owner("n")} AS account_id, n, ${at("n", conversations)} AS at
         FROM generate_series(1, ${conversations}) n;
     INSERT INTO owl.conversation (id, account_id, title, created_at, updated_at, archived_at)
       SELECT id, account_id, ${textOf("n")}, at, at, CASE WHEN n % 50 = 0 THEN now() END FROM bench_conversation`,
  );
  await run(
    `${TURNS} turns`,
    `INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, message, claim_deadline_at, claimed_at,
                           attempt, created_at, ended_at)
       SELECT gen_random_uuid(), c.id, c.account_id, ${textOf("(c.n * 4 + k)")},
              CASE WHEN c.n % 97 = 0 THEN 'failed' ELSE 'answered' END, ${answerOf("(c.n * 4 + k)")}, 'm', c.at, c.at, 1,
              c.at - k * interval '1 minute', c.at - k * interval '1 minute' + interval '5 s'
         FROM bench_conversation c, generate_series(1, ${TURNS_EACH}) k`,
  );
  await run(
    `${EVENTS} events`,
    `INSERT INTO owl.turn_event (turn_id, seq, kind, data)
       SELECT t.id, s, CASE s WHEN 1 THEN 'state' WHEN 4 THEN 'end' ELSE 'delta' END, '{"text":"some words of an answer"}'
         FROM (SELECT id FROM owl.turn ORDER BY ended_at LIMIT ${WITH_EVENTS}) t, generate_series(1, 4) s`,
  );
  const jobs = (part: number) => `generate_series(1, ${Math.round(JOBS * part)}) n`;
  await run(
    "recordings",
    `INSERT INTO owl.transcription (id, account_id, path, name, state, bytes, created_at, claimed_at, ended_at)
       SELECT gen_random_uuid(), ${owner("n")}, '/srv/' || n, n || '.wav', CASE WHEN n % 89 = 0 THEN 'failed' ELSE 'done' END,
              1000000, ${at("n", JOBS * 0.4)}, ${at("n", JOBS * 0.4)}, ${at("n", JOBS * 0.4)} FROM ${jobs(0.4)}`,
  );
  await run(
    "batches",
    `CREATE TABLE bench_batch AS SELECT gen_random_uuid() AS id, k FROM generate_series(0, ${BATCHES - 1}) k;
     INSERT INTO owl.batch (id, account_id, kind, request, state, total, created_at, active_since, ended_at)
       SELECT id, '${ownerId}', 'transcription', '{}', 'done', ${BATCH_ITEMS}, now() - k * interval '1 day', NULL, now() FROM bench_batch;
     INSERT INTO owl.transcription (id, account_id, batch_id, position, path, name, state, bytes, created_at, claimed_at, ended_at,
                                    batch_active_ms)
       SELECT gen_random_uuid(), '${ownerId}', b.id, n, '/srv/' || n, n || '.wav', 'done', 1000000, now(), now(), now(), n
         FROM bench_batch b, generate_series(1, ${BATCH_ITEMS}) n`,
  );
  await run(
    "runs",
    `INSERT INTO owl.playbook_run (id, account_id, playbook_id, name, steps, state, created_at, claimed_at, ended_at)
       SELECT gen_random_uuid(), p.account_id, p.id, p.name, '[]', CASE WHEN n % 83 = 0 THEN 'failed' ELSE 'done' END,
              ${at("n", JOBS * 0.3)}, ${at("n", JOBS * 0.3)}, ${at("n", JOBS * 0.3)}
         FROM ${jobs(0.3)} JOIN bench_member m ON m.k = n % ${MEMBERS} JOIN owl.playbook p ON p.account_id = m.id`,
  );
  await run(
    "analyses",
    `INSERT INTO owl.schema_analysis (id, account_id, data_source, state, created_at, claimed_at, ended_at)
       SELECT gen_random_uuid(), ${owner("n")}, 'demo', 'done', ${at("n", JOBS * 0.3)}, ${at("n", JOBS * 0.3)},
              ${at("n", JOBS * 0.3)} FROM ${jobs(0.3)}`,
  );
  await run(
    "the audit trail",
    `INSERT INTO owl.audit (at, account_id, account_name, action)
       SELECT ${at("n", TURNS / 5)}, ${owner("n")}, 'm', 'session.opened' FROM generate_series(1, ${TURNS / 5}) n`,
  );
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO owl.conversation (id, account_id, title) VALUES (gen_random_uuid(), $1, 'a long one') RETURNING id`,
    [ownerId],
  );
  const id = rows[0]?.id ?? "";
  await run(
    "a long conversation",
    `INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, claim_deadline_at, claimed_at, attempt,
                           created_at, ended_at)
       SELECT gen_random_uuid(), '${id}', '${ownerId}', ${textOf("n")}, 'answered', repeat(${answerOf("n")} || E'\\n', 60), now(), now(),
              1, now() - n * interval '1 minute', now() FROM generate_series(1, ${LONG_TURNS}) n`,
  );
  await admin.query("RESET session_replication_role");
  return id;
}
