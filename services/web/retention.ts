// The one sweeper there is among all web processes: what was deleted is erased within seconds, what has had its time
// every ten minutes. Invariants: whoever does not hold the lease does nothing; a sweep that fails, or is not through
// with its share of time, is told and never stops the next one.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { RetentionConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import { buildLateIndexes } from "../db/late-indexes.ts";
import type { Database, Sql } from "../db/pool.ts";
import {
  DELETION_SWEEPS,
  leaveSweepLease,
  listDiscardedFiles,
  listOrphanedJobs,
  noteFilesGone,
  retentionSweeps,
  type Sweep,
  takeSweepLease,
} from "../db/retention.ts";
import { stopRow } from "../db/stops.ts";

interface Retention extends Pick<Running, "start" | "stop"> {
  /** Erases what was deleted; false: another process sweeps. */
  erase(): Promise<boolean>;
  /** Forgets what has had its time. */
  forget(): Promise<boolean>;
}

const ERASE_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 600_000;
const LEASE_MS = 60_000;
/** A sweep's share of one pass; what is left then waits for the next one. */
const SHARE_MS = 20_000;
/** Between two steps, so that a backlog does not take the disk from everybody. */
const PAUSE_MS = 20;

interface RetentionParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who holds the lease. */
  readonly instance: string;
  readonly kept: RetentionConfig;
  /** Where the files of uploads lie; absent: files are left alone. */
  readonly uploadsDir?: string;
  /** Where missing indexes are built; absent: none are. */
  readonly databaseUrl?: string;
}

export function createRetention(parts: RetentionParts): Retention {
  const { db, clock, log, instance } = parts;
  const stopping = new AbortController();
  let building: Promise<void> | null = null;
  const timed = retentionSweeps(parts.kept);
  let mayHold = false;

  async function hold(): Promise<boolean> {
    mayHold = true;
    return !stopping.signal.aborted && (await takeSweepLease(db, instance, LEASE_MS));
  }

  const inTransaction = (sweep: Sweep): (() => Promise<number>) => {
    return () =>
      db.transaction(async (sql: Sql) => {
        // Whoever holds a row for long is not waited for: the sweep comes again.
        await sql.query("SET LOCAL lock_timeout = '2s'");
        return sweep.step(sql);
      });
  };

  /** Steps until nothing is left, its time is over or the lease is lost; false: the lease is lost. */
  async function sweepOut(name: string, step: () => Promise<number>): Promise<boolean> {
    const untilMs = clock.monotonicMs() + SHARE_MS;
    let gone = 0;
    try {
      for (;;) {
        if (!(await hold())) return false;
        const n = await step();
        gone += n;
        if (n === 0 || clock.monotonicMs() >= untilMs) break;
        await clock.sleep(PAUSE_MS, stopping.signal);
      }
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: asError(error), sweep: name }, "a sweep failed; it comes again");
    }
    if (gone > 0) log.info({ sweep: name, rows: gone }, "swept");
    return !stopping.signal.aborted;
  }

  async function all(sweeps: readonly { readonly name: string; step(): Promise<number> }[]): Promise<boolean> {
    for (const { name, step } of sweeps) if (!(await sweepOut(name, step))) return false;
    return true;
  }

  async function stopOrphans(): Promise<number> {
    const jobs = await listOrphanedJobs(db);
    for (const { kind, id } of jobs) await db.transaction((sql) => stopRow(sql, kind, id));
    return jobs.length;
  }

  async function removeFiles(): Promise<number> {
    if (parts.uploadsDir === undefined) return 0;
    const files = await listDiscardedFiles(db);
    for (const id of files) await rm(join(parts.uploadsDir, id), { force: true });
    await noteFilesGone(db, files);
    return files.length;
  }

  const erase = () =>
    all([
      { name: "jobs of deleted accounts", step: stopOrphans },
      ...DELETION_SWEEPS.map((sweep) => ({ name: sweep.name, step: inTransaction(sweep) })),
      { name: "files", step: removeFiles },
    ]);
  const forget = () => all(timed.map((sweep) => ({ name: sweep.name, step: inTransaction(sweep) })));

  const every = (everyMs: number, run: () => Promise<unknown>): Running =>
    createLoop({
      clock,
      everyMs,
      runOnce: async () => void (await run()),
      failed: (err) => log.warn({ err }, "nobody sweeps at the moment; it is tried again"),
    });
  const loops = [every(ERASE_EVERY_MS, erase), every(FORGET_EVERY_MS, forget)];

  async function buildIndexes(): Promise<void> {
    if (parts.databaseUrl === undefined) return;
    try {
      if (!(await hold())) return;
      const { built, refused } = await buildLateIndexes(parts.databaseUrl, stopping.signal);
      if (built.length > 0) log.info({ indexes: built }, "indexes built");
      for (const { name, error } of refused) log.warn({ err: asError(error), index: name }, "an index cannot be built");
    } catch (error) {
      log.warn({ err: asError(error) }, "indexes were not looked after");
    }
  }

  return {
    erase,
    forget,
    async start() {
      building ??= buildIndexes();
      await Promise.all(loops.map((loop) => loop.start()));
    },
    async stop() {
      stopping.abort();
      await Promise.all([building, ...loops.map((loop) => loop.stop())]);
      if (mayHold) await leaveSweepLease(db, instance).catch(() => undefined);
    },
  };
}
