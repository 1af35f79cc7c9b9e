// One job's way to its end, whatever the database says on it.

import { expect, test } from "vitest";
import { JOB_KINDS, type JobKind } from "../../../../config/config.ts";
import type { Claim } from "../../../../services/db/claims.ts";
import { markDatabaseError } from "../../../../services/db/database-errors.ts";
import type { Database, Sql } from "../../../../services/db/pool.ts";
import type { Handler, JobContext } from "../../../../services/jobs/handler.ts";
import { textOf } from "../../../../services/text/text.ts";
import { runJob } from "../../../../services/worker/running-job.ts";
import { createTestClock } from "../../../support/test-clock.ts";

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

const failure = (code: string) => markDatabaseError(Object.assign(new Error(code), { code })) as Error;

/** A database whose statements fail with `code` while there is one. */
function setup(
  run: (context: JobContext) => Promise<"ended" | "lostClaim">,
  code: string | null = null,
  kind: JobKind = "chat",
) {
  const clock = createTestClock();
  const state = { code, ended: 0, failed: 0 };
  const sql: Sql = {
    async query(text: string) {
      if (state.code !== null) throw failure(state.code);
      if (/UPDATE/.test(text)) state.ended += 1;
      return { rows: [], rowCount: 1 };
    },
  };
  const db = { ...sql, attempt: (work: (sql: Sql) => Promise<unknown>) => work(sql) } as unknown as Database;
  const log = { child: () => log, info: () => {}, warn: () => {}, error: () => {} };
  const handler: Handler = {
    run,
    async fail() {
      state.failed += 1;
      throw new Error("a fault in fail");
    },
  };
  const deps = { db, clock, log, text: textOf("en"), queue: { complete: async () => {} } };
  const job = runJob(deps as never, handler, { ...claim, kind }, new AbortController().signal);
  return { clock, state, job };
}

const end = (context: JobContext) =>
  context.end(async (sql) => (await sql.query("UPDATE owl.turn SET state = 'answered'")).rowCount === 1);

test.each([
  ...[
    "25006",
    "40001",
    "40P01",
    "53100",
    "53200",
    "53300",
    "53400",
    "55P03",
    "57014",
    "57P01",
    "57P02",
    "57P03",
    "57P05",
  ],
  ...["58000", "58030", "58P01", "XX000", "XX001", "08006", "ECONNREFUSED"],
])("an answer is saved once the database is well again, however long it answered %s", async (code) => {
  const { clock, state, job } = setup(end, code);
  await clock.advance(600_000);
  expect(state).toMatchObject({ ended: 0, failed: 0 });
  state.code = null;
  await clock.advance(2_000);
  expect(await job.over).toBe("ended");
  expect(state).toMatchObject({ ended: 1, failed: 0 });
});

test("an ending that is wrong in itself is not repeated: the row ends by its kind's rule", async () => {
  let tries = 0;
  const { state, job } = setup((context) =>
    context.end(async () => {
      tries += 1;
      throw failure("22021");
    }),
  );
  expect(await job.over).toBe("ended");
  expect([tries, state.failed, state.ended]).toEqual([1, 1, 1]);
});

test.each(JOB_KINDS)(
  "by the rule of %s it is ended whatever the database says, also what is our own fault",
  async (kind) => {
    const run = async () => {
      throw new Error("a fault in run");
    };
    const { clock, state, job } = setup(run, "42P01", kind);
    await clock.advance(60_000);
    expect(state).toMatchObject({ ended: 0, failed: 1 });
    state.code = null;
    await clock.advance(2_000);
    expect(await job.over).toBe("ended");
    expect(state.ended).toBe(1);
  },
);
