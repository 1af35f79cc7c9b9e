// The backup program beside owld: keeps the log and the uploads of now in the directory, takes a backup when one is due,
// and removes what nobody needs. Invariant: whatever fails is told once, tried again, and touches nothing of what runs.

import { statfs } from "node:fs/promises";
import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { BackupConfig } from "../../../config/config.ts";
import { asError } from "../../../config/errors.ts";
import { homePaths } from "../../../config/home.ts";
import type { Clock } from "../../../config/time.ts";
import { Refusal, wordsOf } from "../../core/text/refusal.ts";
import { en, ko } from "../../core/text/text.ts";
import { takeBase } from "./base.ts";
import { runBackupCommand } from "./command.ts";
import { untilNextMs } from "./core/schedule.ts";
import { isSameLine } from "./core/wal.ts";
import { claimPlace, type OwnPlace, readFollowed } from "./directory.ts";
import { type LogKeeper, openLogKeeper } from "./log-keeper.ts";
import { readPassphrase } from "./passphrase.ts";
import { prune } from "./prune.ts";
import { openReplication, type ServerPosition } from "./replication.ts";
import { type BackupReport, type BackupTask, NOW, type Told } from "./report.ts";
import { verifyBackup } from "./restored-data.ts";
import { boundKeptLog } from "./slot.ts";
import { openUploadKeeper } from "./uploads.ts";

/** So long the log waits for uploads it may mention. */
const UPLOADS_MS = 3_000;
const LOOK_MS = 500;
const FOLLOWED_MS = 2_000;
/** A directory that is mounted again is found within this. */
const LONGEST_PAUSE_MS = 30_000;

interface Serving {
  readonly task: BackupTask;
  readonly clock: Clock;
  readonly report: (report: BackupReport) => void;
}

export async function serve({ task, clock, report }: Serving): Promise<void> {
  // Whoever asks the running system goes first; yet on a busy machine the log must not wait for it.
  setPriority(5);
  const orders = hearOrders(clock);
  const { ended } = orders;
  /** backup.command reads the directory. */
  let commanding = false;
  const tellUnread = createUnread(report);
  let toldMark = "";
  let failures = 0;
  let last = { failures: 0, tryMs: null as number | null };
  while (!ended.aborted) {
    try {
      await session();
    } catch (error) {
      if (ended.aborted) return;
      failures++;
      report({ kind: "problem", part: "log", problem: toldOf(error) });
    }
    await orders.pause(Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** Math.min(10, failures)));
  }

  /** From one connection to its end. */
  async function session(): Promise<void> {
    const place = await claimPlace({
      path: task.backup.directory,
      ...task,
      passphrase: await readPassphrase(task.backup.passphraseFile),
      nowMs: clock.now(),
      seen({ generation, standby }) {
        if (toldMark === `${generation} ${standby}`) return;
        toldMark = `${generation} ${standby}`;
        report({ kind: "held", generation, standby });
      },
    });
    await tellSpace(task.backup, report);
    await boundKeptLog(task.adminUrl);
    const replication = await openReplication(task.adminUrl);
    const lifetime = new AbortController();
    const signal = AbortSignal.any([ended, lifetime.signal]);
    try {
      const server = await replication.position();
      const directory = homePaths(task.home).uploads;
      const uploads = await openUploadKeeper({ clock, place, directory, bytesPerS: task.backup.bandwidthBytesPerS });
      // Not cut by our end: the last of the log waits for them.
      const bring = oneAtATime(async () => tellUnread(await uploads.runOnce(lifetime.signal)));
      const keeper = await openLogKeeper({
        clock,
        place,
        replication,
        server,
        epoch: task.epoch,
        everyMs: task.backup.walEveryMs,
        mayJoin: () => !commanding,
        before: () => within(clock, UPLOADS_MS, bring()),
        wrote(lagMs) {
          failures = 0;
          report({ kind: "problem", part: "log", problem: null });
          report({ kind: "log", atMs: clock.now(), lagMs });
        },
      });
      const kept = keeper.run(signal);
      await Promise.race([
        kept,
        backUp({ place, server, keeper, bring, signal }),
        hearStandby({ task, clock, report }, signal),
      ]);
      await kept;
    } finally {
      lifetime.abort();
      await replication.end();
    }
  }

  async function backUp(parts: {
    readonly place: OwnPlace;
    readonly server: ServerPosition;
    readonly keeper: LogKeeper;
    readonly bring: () => Promise<void>;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { place, server, keeper, signal } = parts;
    let newest = (await place.backups()).at(-1) ?? null;
    // An upgrade of PostgreSQL makes another system, and another line of history with it.
    if (newest?.postgres.epoch === task.epoch && newest.postgres.systemId !== server.systemId)
      throw new Refusal("backup.foreign", ({ refused }) => refused.backup.foreign(place.path));
    // The log of before does not lead to now: what could be restored ends there.
    let due =
      newest !== null &&
      (keeper.hasGap || !isSameLine(newest.postgres, { epoch: task.epoch, timeline: server.timeline }));
    for await (const _ of clock.every(LOOK_MS, signal)) {
      const untilMs = untilNextMs({
        nowMs: clock.now(),
        newestMs: newest === null ? null : Date.parse(newest.endedAt),
        everyMs: due ? 0 : task.backup.everyMs,
        failures: last.failures,
        lastTryMs: last.tryMs,
      });
      const wanted = orders.isWanted();
      if (!wanted && untilMs > 0) continue;
      // Until there is one of this line of history, nothing of it could be restored.
      const fast = wanted || newest === null || due;
      orders.taken();
      const startedMs = clock.monotonicMs();
      report({ kind: "began" });
      try {
        newest = await takeBase({
          ...task,
          ...parts,
          clock,
          paths: homePaths(task.home),
          bytesPerS: task.backup.bandwidthBytesPerS,
          fast,
          reached: keeper.reached,
          bringUploads: parts.bring,
        });
        // Read back before it counts.
        await verifyBackup(place, newest, signal);
        due = false;
        last = { failures: 0, tryMs: clock.now() };
        report({ kind: "problem", part: "backup", problem: null });
        await tellSpace(task.backup, report);
        const bytes = newest.files.reduce((sum, file) => sum + file.bytes, 0);
        const elapsedMs = Math.round(clock.monotonicMs() - startedMs);
        report({ kind: "finished", id: newest.id, atMs: clock.now(), bytes, elapsedMs });
        await keeper.between(() => prune(place, task.backup.keep, homePaths(task.home).uploads));
        commanding = true;
        const failure = await runBackupCommand(task.backup, signal).finally(() => {
          commanding = false;
        });
        report({ kind: "problem", part: "command", problem: failure === null ? null : toldOf(failure) });
      } catch (error) {
        if (signal.aborted) return;
        last = { failures: last.failures + 1, tryMs: clock.now() };
        report({ kind: "problem", part: "backup", problem: toldOf(error) });
      }
    }
  }
}

/** When its word changes, by our own clock: the other machine's may differ. */
async function hearStandby({ task, clock, report }: Serving, signal: AbortSignal): Promise<void> {
  const { directory } = task.backup;
  let before = await readFollowed(directory);
  for await (const _ of clock.every(FOLLOWED_MS, signal)) {
    const now = await readFollowed(directory);
    if (now !== null && now !== before) report({ kind: "followed", atMs: clock.now() });
    before = now;
  }
}

/** What owld says on our standard input; its end is the end of owld, and another one starts its own. */
function hearOrders(clock: Clock) {
  const ended = new AbortController();
  let wanted = false;
  let woken = new AbortController();
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      if (line !== NOW) return;
      wanted = true;
      // Somebody waits: what is in the way may just have been cleared.
      woken.abort();
    })
    .on("close", () => ended.abort());
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => ended.abort());
  return {
    ended: ended.signal,
    /** A backup at once. */
    isWanted: () => wanted,
    taken(): void {
      wanted = false;
    },
    /** Until then, or until something is wanted. */
    async pause(ms: number): Promise<void> {
      woken = new AbortController();
      await clock.sleep(ms, AbortSignal.any([ended.signal, woken.signal])).catch(() => undefined);
    },
  };
}

/** Asked here: a mount that hangs must not hang owld. */
async function tellSpace({ directory }: BackupConfig, report: Serving["report"]): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(directory);
  if (blocks > 0) report({ kind: "space", freeBytes: bavail * bsize });
}

/** Tells which uploads cannot be read, when that changes. */
function createUnread(report: Serving["report"]): (ids: readonly string[]) => void {
  let told = "";
  return (ids) => {
    if (ids.join() === told) return;
    told = ids.join();
    const refusal = new Refusal("backup.uploadsUnread", ({ refused }) => refused.backup.uploadsUnread(ids));
    report({ kind: "problem", part: "uploads", problem: ids.length === 0 ? null : toldOf(refusal) });
  };
}

/** Who calls while it runs waits for one more run: what was new at the call is then over. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        running = work();
        return running;
      });
    return next;
  };
}

/** `work`, or its bound: then it goes on by itself, and what it fails with is met by the next. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  work.catch(() => undefined);
  try {
    await Promise.race([work, clock.sleep(ms, over.signal).catch(() => undefined)]);
  } finally {
    over.abort();
  }
}

function toldOf(caught: unknown): Told {
  const error = asError(caught);
  const say = (text: typeof en): string => {
    const { sentence, next } = wordsOf(error, text);
    return next === undefined ? sentence : `${sentence} ${next}`;
  };
  return { code: (error as { code?: string }).code ?? "backup.failed", en: say(en), ko: say(ko) };
}
