// What web does on a timer, each process alike: closes turns nobody claimed in time, and forgets what has expired.
// Invariant: a turn is closed by one guarded UPDATE together with its job's removal, so a claim at the last moment
// either wins whole or loses whole.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { sweepSessions } from "../db/accounts.ts";
import { forgetUnsentAttachments } from "../db/attachments.ts";
import { forgetIdempotencyKeys } from "../db/idempotency-keys.ts";
import type { Database } from "../db/pool.ts";
import { endQueuedTurn, findUnclaimedTurns, forgetDeltas } from "../db/turns.ts";
import { expireUploads } from "../db/uploads.ts";
import { forgetWorkers } from "../db/workers.ts";
import type { Text } from "../text/text.ts";

interface Sweeper {
  start(): void;
  stop(): Promise<void>;
  /** Closes the turns past their claim limit; answers how many. */
  closeUnclaimed(): Promise<number>;
  /** Forgets expired sessions, keys, workers, the deltas of old turns, unfinished uploads and unsent attachments. */
  forget(): Promise<void>;
}

const EVERY_MS = 1_000;
const FORGET_EVERY_MS = 600_000;
const AT_ONCE = 100;
const UPLOAD_HOURS = 48;
const UNSENT_HOURS = 24;
/** A day more than a session lasts: nobody signed in can still be in the middle of a stream that old. */
const DELTA_DAYS = 31;

export function createSweeper(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly text: Text;
  /** Where the files of uploads lie; absent: uploads are left alone. */
  readonly uploadsDir?: string;
}): Sweeper {
  const { db, clock, log } = deps;
  const stopping = new AbortController();
  const loops: Promise<void>[] = [];

  async function closeUnclaimed(): Promise<number> {
    let count = 0;
    for (const id of await findUnclaimedTurns(db, AT_ONCE)) {
      const message = deps.text("turn.unclaimed");
      if (!(await endQueuedTurn(db, id, { state: "failed", cause: "unclaimed", message }))) continue;
      count += 1;
      log.warn({ job: id }, "turn closed: no worker claimed it in time");
    }
    return count;
  }

  async function forget(): Promise<void> {
    await sweepSessions(db);
    await forgetIdempotencyKeys(db);
    await forgetWorkers(db);
    await forgetDeltas(db, DELTA_DAYS);
    await forgetUnsentAttachments(db, UNSENT_HOURS);
    if (deps.uploadsDir !== undefined) await forgetUploads(deps.uploadsDir);
  }

  /** Uploads that were begun and not touched for two days. */
  async function forgetUploads(dir: string): Promise<void> {
    for (const id of await expireUploads(db, UPLOAD_HOURS)) {
      await rm(join(dir, id), { force: true });
      log.info({ upload: id }, "unfinished upload forgotten");
    }
  }

  async function every(ms: number, run: () => Promise<unknown>): Promise<void> {
    for await (const _ of clock.every(ms, stopping.signal)) {
      try {
        await run();
      } catch (error) {
        log.warn({ err: asError(error) }, "sweep failed; it is repeated");
      }
    }
  }

  return {
    closeUnclaimed,
    forget,
    start() {
      if (loops.length > 0) return;
      loops.push(every(EVERY_MS, closeUnclaimed), every(FORGET_EVERY_MS, forget));
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
