// A warm standby on another machine: a home that is filled from the backup directory and follows its log, until a person
// lets it take over. Its PostgreSQL replays for ever and lets nobody in.
// Invariants: a standby's home carries `standby.json`, on which owld does not start; whoever wrote into the directory
// before a promotion finds a higher generation in its mark, and runs nothing more.

import { chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asError, type OwlError } from "../../../config/errors.ts";
import { type HomePaths, homePaths } from "../../../config/home.ts";
import { type Clock, isoTime } from "../../../config/time.ts";
import { Refusal, wordsOf } from "../../core/text/refusal.ts";
import type { Text } from "../../core/text/text.ts";
import { createProcReader } from "../../process/proc-identity.ts";
import { replaceFile, syncTree } from "../../release/sync.ts";
import { STANDBY } from "../../state/home.ts";
import { takeOwnerLock } from "../../state/owner-lock.ts";
import { createManagedPostgres } from "../managed.ts";
import { recordedDirectory } from "../place.ts";
import type { BackupManifest } from "./core/manifest.ts";
import { isSameLine } from "./core/wal.ts";
import { type BackupPlace, markStandby, openPlace, tellFollowed } from "./directory.ts";
import { openLogTail } from "./log-tail.ts";
import { readPassphrase } from "./passphrase.ts";
import { finish, layDown, planRestore, type RestoreDeps, type Restored, type RestoreRequest } from "./restore.ts";

const LOOK_MS = 1_000;
/** How often the one that is followed is told. */
const TELL_MS = 5_000;
const AGAIN_MS = 5_000;
/** A log that young has somebody who still writes it; and so long that one has to see the mark, and to end. */
const FRESH_MS = 30_000;
const FENCE_MS = 10_000;
/** How long a follower has to end before a promotion. */
const END_MS = 60_000;

type FollowRequest = Pick<RestoreRequest, "directory" | "home" | "passphraseFile" | "postgres">;

interface StandbyRecord extends Pick<FollowRequest, "directory" | "passphraseFile"> {
  readonly backup: string;
  /** The line of history it follows. */
  readonly postgres: BackupManifest["postgres"];
  /** The newest piece of the log that is laid down was written then. */
  readonly logUntil: string | null;
  readonly problem: string | null;
  /** The log has ended here: a cut promotion only goes on. */
  readonly promoting: boolean;
}

/** Until aborted. Whatever fails is told, and tried again. Throws only when the home is not its own. */
export async function follow(
  request: FollowRequest,
  deps: RestoreDeps & { readonly text: Text },
): Promise<{ readonly ended: true }> {
  const { clock, say, signal, text } = deps;
  const paths = homePaths(request.home);
  const lock = takeHome(paths);
  try {
    let begun = (await readRecord(paths)) !== null;
    while (!signal.aborted) {
      try {
        await session(request, deps, paths);
      } catch (caught) {
        if (signal.aborted) break;
        const error = asError(caught);
        const record = await readRecord(paths);
        // What is wrong from the beginning is a mistake to tell, not a fault to wait for.
        if (record === null && !begun) throw error;
        begun = true;
        const { sentence } = wordsOf(error, text);
        if (record?.problem !== sentence) say(sentence);
        if (record !== null) keepRecord(paths, { ...record, problem: sentence });
        // Without the rest of the record the next session begins with the newest backup.
        if ((error as OwlError).code === "backup.logEnds") replaceFile(join(paths.home, STANDBY), "{}\n");
        await clock.sleep(AGAIN_MS, signal).catch(() => undefined);
      }
    }
    return { ended: true };
  } finally {
    lock.release();
  }
}

async function session(request: FollowRequest, deps: RestoreDeps, paths: HomePaths): Promise<void> {
  const { clock, say, signal } = deps;
  const { directory, passphraseFile } = request;
  const place = await openPlace(directory, await readPassphrase(passphraseFile));
  const record = (await readRecord(paths)) ?? (await seed(request, deps, paths));
  if (record.promoting) throw new Refusal("backup.noStandby", ({ refused }) => refused.backup.noStandby(paths.home));
  await markStandby(directory, place.mark, "follows");
  const settings = { recovery_target_timeline: "current", hot_standby: "off", wal_recycle: "off" };
  const server = createManagedPostgres({
    clock,
    random: deps.random,
    config: { ...request.postgres, settings },
    base: paths.postgres,
    logFile: join(paths.logs, "postgres.log"),
    path: deps.path,
    isStandby: true,
  });
  try {
    await server.start(() => undefined, signal);
    const tail = await openLogTail(place, record.postgres, server.place().data);
    keepRecord(paths, { ...record, directory, passphraseFile, problem: null });
    say("follow");
    let toldMs = Number.NEGATIVE_INFINITY;
    for await (const _ of clock.every(LOOK_MS, signal)) {
      const logUntil = await place.logUntil();
      if (await tail.bring()) keepRecord(paths, { ...record, directory, passphraseFile, logUntil, problem: null });
      if ((await server.living()) === null) return;
      if (clock.monotonicMs() - toldMs < TELL_MS) continue;
      toldMs = clock.monotonicMs();
      await tellFollowed(directory, isoTime(clock.now()));
    }
  } finally {
    await server.stop();
  }
}

/** The newest backup, with the log so far. */
async function seed(request: FollowRequest, deps: RestoreDeps, paths: HomePaths): Promise<StandbyRecord> {
  const whole = { ...request, atMs: null, backup: null, beside: false, configFile: null, mark: STANDBY };
  const planned = await planRestore(whole, deps);
  const logUntil = await planned.place.logUntil();
  await layDown(planned, paths, { ...deps, mark: STANDBY, endsAtDamage: false });
  const data = await dataOf(paths);
  const file = join(data, "standby.signal");
  await writeFile(file, "", { mode: 0o600 });
  const { uid, gid } = await stat(data);
  if (process.geteuid?.() === 0) await chown(file, uid, gid);
  await syncTree(data);
  const { id, postgres } = planned.backup;
  const { directory, passphraseFile } = request;
  const record = { directory, passphraseFile, backup: id, postgres, logUntil, problem: null, promoting: false };
  keepRecord(paths, record);
  return record;
}

/** The standby becomes the Owl: the one before it is shut out, the log ends, the home is whole. */
export async function promote(
  request: Pick<RestoreRequest, "home" | "configFile" | "postgres">,
  deps: RestoreDeps,
): Promise<Restored> {
  const { clock, say, signal } = deps;
  const paths = homePaths(request.home);
  if ((await readRecord(paths)) === null)
    throw new Refusal("backup.noStandby", ({ refused }) => refused.backup.noStandby(paths.home));
  const lock = await endFollower(paths, clock);
  try {
    const record = await readRecord(paths);
    if (record === null) throw new Refusal("backup.noStandby", ({ refused }) => refused.backup.noStandby(paths.home));
    const { directory, passphraseFile } = record;
    const place = await openPlace(directory, await readPassphrase(passphraseFile));
    if (!record.promoting) {
      const ageMs = clock.now() - Date.parse((await place.logUntil()) ?? "1970-01-01");
      say("fence");
      await markStandby(directory, place.mark, "promoted");
      if (ageMs < FRESH_MS) await clock.sleep(FENCE_MS, signal);
      say("log");
      await (await openLogTail(place, record.postgres, await dataOf(paths))).bring();
      keepRecord(paths, { ...record, promoting: true });
    }
    await rm(join(await dataOf(paths), "standby.signal"), { force: true });
    const whole = { ...request, directory, passphraseFile, atMs: null, backup: null, beside: false, mark: STANDBY };
    return await finish(whole, deps, { place, backup: await newestOf(place, record) });
  } finally {
    lock.release();
  }
}

export async function standbyStatus(home: string) {
  const paths = homePaths(home);
  const record = await readRecord(paths);
  if (record === null) throw new Refusal("backup.noStandby", ({ refused }) => refused.backup.noStandby(home));
  const { directory, backup, logUntil, problem } = record;
  return { home, directory, backup, logUntil, problem, following: (await followerOf(paths)) !== null };
}

/** Whose state and files are the newest of that line of history. */
async function newestOf(place: BackupPlace, record: StandbyRecord): Promise<BackupManifest> {
  const backups = await place.backups();
  const found =
    backups.findLast((one) => isSameLine(one.postgres, record.postgres)) ??
    backups.find(({ id }) => id === record.backup);
  if (found === undefined)
    throw new Refusal("backup.unknownBackup", ({ refused }) => refused.backup.unknownBackup(record.backup));
  return found;
}

/** Its process, if one follows. */
async function followerOf({ state }: HomePaths): Promise<number | null> {
  const pid = Number(await readFile(join(state, "owld.pid"), "utf8").catch(() => ""));
  return pid > 1 && createProcReader().command(pid).includes("backups/main.ts ask") ? pid : null;
}

async function endFollower(paths: HomePaths, clock: Clock): Promise<ReturnType<typeof takeOwnerLock>> {
  const fromMs = clock.monotonicMs();
  const pid = await followerOf(paths);
  if (pid !== null) process.kill(pid, "SIGTERM");
  for (;;) {
    try {
      return takeHome(paths);
    } catch (error) {
      if (pid === null || clock.monotonicMs() - fromMs > END_MS) throw error;
      await clock.sleep(100);
    }
  }
}

/** Throws `backup.followed`. */
function takeHome({ home, state }: HomePaths): ReturnType<typeof takeOwnerLock> {
  try {
    return takeOwnerLock(state, process.pid);
  } catch (error) {
    if ((error as OwlError).code !== "owld.running") throw error;
    throw new Refusal("backup.followed", ({ refused }) => refused.backup.followed(home));
  }
}

const dataOf = async ({ postgres }: HomePaths): Promise<string> => join(await recordedDirectory(postgres), "data");

/** null: none, or one whose laying down was cut. */
async function readRecord({ home }: HomePaths): Promise<StandbyRecord | null> {
  const text = await readFile(join(home, STANDBY), "utf8").catch(() => "{}");
  const record = JSON.parse(text) as Partial<StandbyRecord>;
  return record.postgres === undefined ? null : (record as StandbyRecord);
}

const keepRecord = ({ home }: HomePaths, record: StandbyRecord): void =>
  replaceFile(join(home, STANDBY), `${JSON.stringify(record)}\n`);
