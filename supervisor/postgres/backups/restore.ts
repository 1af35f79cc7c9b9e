// A backup into an empty home: data and log are laid down and replayed to the moment asked for, then the uploads the
// database knows, the secrets, the state without what lived on the lost machine.
// Invariants: a home being restored carries `restoring.json`, and owld does not start on it; a cut restore is begun again
// by the same call. A restored home carries `restored.json` until its jobs are ended or requeued by their kind's rule.

import { chown, mkdir, readdir, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "pg";
import type { PostgresConfig } from "../../../config/config.ts";
import type { OwlError } from "../../../config/errors.ts";
import { type HomePaths, homePaths } from "../../../config/home.ts";
import { type Clock, isoTime, type Random } from "../../../config/time.ts";
import { formatSize } from "../../../config/units.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { replaceFile } from "../../release/sync.ts";
import { isForeign, RESTORED, RESTORING } from "../../state/home.ts";
import { takeOwnerLock } from "../../state/owner-lock.ts";
import { type Account, chooseAccount, readAccounts } from "../account.ts";
import { findBinaries } from "../binaries.ts";
import { createManagedPostgres } from "../managed.ts";
import { preparePlace } from "../place.ts";
import { runProgram } from "../program.ts";
import { countRows, FILES, type HomeFiles, SECRETS } from "./base.ts";
import { type BackupManifest, MANIFEST } from "./core/manifest.ts";
import { backupFor } from "./core/schedule.ts";
import { isSameLine, pieceName, type WalPiece } from "./core/wal.ts";
import { type BackupPlace, openPlace } from "./directory.ts";
import { markHalf, markWhole } from "./half-home.ts";
import { restoreReleases } from "./own-releases.ts";
import { readPassphrase } from "./passphrase.ts";
import { chainOf, storedText, writeData, writeLog } from "./restored-data.ts";
import { restoreConfig, restoreState } from "./restored-home.ts";
import { type FetchedUploads, fetchUploads } from "./restored-uploads.ts";

/** Reading a day's log may take its time. */
const READY_MS = 6 * 3_600_000;
/** Whatever is cut is begun again, and all of it is on the disk before the home's mark goes. */
const UNSAFE_UNTIL_DONE = { fsync: "off", full_page_writes: "off" };
const SPARE_BYTES = 256 * 2 ** 20;

export interface RestoreRequest {
  readonly directory: string;
  readonly home: string;
  readonly passphraseFile: string | null;
  /** The moment to restore, or null: the last there is. */
  readonly atMs: number | null;
  readonly backup: string | null;
  /** Beside a running one: another installation from now on. */
  readonly beside: boolean;
  /** Where owl.yaml goes when none is there; null: it stays beside. */
  readonly configFile: string | null;
  readonly postgres: PostgresConfig;
  /** What a home carries that may be begun again; absent: that of a restore. */
  readonly mark?: string;
}

interface RestorePlan {
  readonly backup: string;
  readonly endedAt: string;
  readonly version: string;
  readonly major: number;
  readonly home: string;
  readonly neededBytes: number;
  /** The last piece of the log was written then. */
  readonly logUntil: string | null;
}

export interface Restored {
  readonly backup: string;
  readonly home: string;
  /** The last transaction that is in it. */
  readonly until: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly uploads: FetchedUploads;
  readonly config: { readonly file: string; readonly inPlace: boolean } | null;
  readonly elapsedMs: number;
}

export interface RestoreDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly path: string;
  /** Migrations this code knows: names and hashes. */
  readonly migrations: ReadonlyMap<string, string>;
  readonly say: (step: string) => void;
  readonly signal: AbortSignal;
}

interface Planned {
  readonly plan: RestorePlan;
  readonly place: BackupPlace;
  readonly backup: BackupManifest;
  readonly chain: readonly WalPiece[];
}

export async function planRestore(
  request: RestoreRequest,
  deps: Omit<RestoreDeps, "say" | "signal">,
): Promise<Planned> {
  const place = await openPlace(request.directory, await readPassphrase(request.passphraseFile));
  const backup = await choose(place, request);
  const unknown = Object.entries(backup.migrations).filter(([name, hash]) => deps.migrations.get(name) !== hash);
  if (unknown.length > 0) {
    const names = unknown.map(([name]) => name).join(", ");
    throw new Refusal("backup.newerMigrations", ({ refused }) => refused.backup.newerMigrations(backup.version, names));
  }
  await findBinaries({ configured: request.postgres.binaries, major: backup.postgres.major, path: deps.path });
  await refuseCut(place, backup);
  const chain = await wholeChain(place, backup, request.atMs);
  const uploads = (await place.uploads()).reduce((sum, { bytes }) => sum + bytes, 0);
  const log = chain.reduce((sum, { from, to }) => sum + Number(to - from), 0);
  const neededBytes = backup.postgres.bytes + log + uploads + SPARE_BYTES;
  await refuseUsed(request.home, request.mark ?? RESTORING);
  await refuseFull(request.home, neededBytes);
  const plan = {
    backup: backup.id,
    endedAt: backup.endedAt,
    version: backup.version,
    major: backup.postgres.major,
    home: request.home,
    neededBytes,
    logUntil: await place.logUntil(),
  };
  return { plan, place, backup, chain };
}

export async function restore(request: RestoreRequest, deps: RestoreDeps): Promise<Restored> {
  const startedMs = deps.clock.monotonicMs();
  const planned = await planRestore(request, deps);
  const paths = homePaths(request.home);
  await mkdir(paths.home, { recursive: true, mode: 0o711 });
  const lock = takeHome(paths);
  try {
    const damage = await layDown(planned, paths, { ...deps, mark: RESTORING, endsAtDamage: request.atMs !== null });
    const postgres = { ...request.postgres, settings: UNSAFE_UNTIL_DONE };
    const restored = await finish({ ...request, postgres, mark: RESTORING }, deps, { ...planned, damage });
    return { ...restored, elapsedMs: Math.round(deps.clock.monotonicMs() - startedMs) };
  } finally {
    lock.release();
  }
}

/** One that is begun again would remove what another one is laying down. */
function takeHome({ home, state }: HomePaths): ReturnType<typeof takeOwnerLock> {
  try {
    return takeOwnerLock(state, process.pid);
  } catch (error) {
    if ((error as OwlError).code !== "owld.running") throw error;
    throw new Refusal("backup.restoring", ({ refused }) => refused.backup.restoring(home));
  }
}

/**
 * Data and log of a backup into an empty home, which carries `mark` from before the first byte. Nothing is synced; answers
 * the damage that ends the log.
 */
export async function layDown(
  { place, backup, chain }: Pick<Planned, "place" | "backup" | "chain">,
  paths: HomePaths,
  how: Pick<RestoreDeps, "say" | "signal"> & { readonly mark: string; readonly endsAtDamage: boolean },
): Promise<Refusal | null> {
  const { say, signal } = how;
  const owner = await ownerOf(paths.home);
  await mkdir(paths.home, { recursive: true, mode: 0o711 });
  await markHalf(paths.home, how.mark, `${JSON.stringify({ backup: backup.id })}\n`);
  for (const path of [paths.postgres, paths.state, paths.logs, paths.run])
    await mkdir(path, { recursive: true, mode: 0o750 });
  const { secrets } = await homeFilesOf(place, backup);
  for (const name of SECRETS) {
    const text = secrets[name];
    if (text !== undefined) replaceFile(join(paths.home, name), text);
  }
  const account = owner ?? (await chosenAccount());
  const { data } = await preparePlace({ base: paths.postgres, account });
  await rm(data, { recursive: true, force: true });
  const restored = { place, backup, data, account, signal };
  say("data");
  await writeData(restored);
  say("log");
  // Asked for a moment, what comes behind damage is not needed; asked for the last one, it is missed and said.
  return await writeLog(restored, chain, how);
}

/**
 * The log is replayed and ends; then what else belongs to the home, which is whole then. `backup`: whose state and files;
 * `damage`: the log's.
 */
export async function finish(
  request: RestoreRequest & { readonly mark: string },
  deps: RestoreDeps,
  { place, backup, damage = null }: Pick<Planned, "place" | "backup"> & { readonly damage?: Refusal | null },
): Promise<Restored> {
  const { clock, say, signal } = deps;
  const startedMs = clock.monotonicMs();
  const paths = homePaths(request.home);
  const owner = await ownerOf(request.home);
  const account = owner ?? (await chosenAccount());
  const { data } = await preparePlace({ base: paths.postgres, account });
  say("replay");
  const { until, counts, uploads } = await replay(request, deps, { place, backup, paths, data, account, damage });
  say("home");
  await restoreState(await storedText(place, backup, FILES.state), paths, request.beside);
  const files = await homeFilesOf(place, backup);
  const own = { files: backup.ownReleases, records: files.ownReleases ?? [] };
  await restoreReleases(place, own, paths.ownReleases, signal);
  const config = await restoreConfig(files.config, request.configFile, paths);
  replaceFile(
    join(paths.home, RESTORED),
    `${JSON.stringify({ backup: backup.id, at: isoTime(clock.now()), until })}\n`,
  );
  if (owner !== null) await giveTo(owner, paths);
  await markWhole(paths.home, request.mark, [data, paths.uploads, paths.home]);
  const elapsedMs = Math.round(clock.monotonicMs() - startedMs);
  return { backup: backup.id, home: request.home, until, counts, uploads, config, elapsedMs };
}

const homeFilesOf = async (place: BackupPlace, backup: BackupManifest): Promise<HomeFiles> =>
  JSON.parse((await storedText(place, backup, FILES.home)).toString("utf8")) as HomeFiles;

/** The server replays the log, ends its recovery, tells what it holds, and is stopped again. */
async function replay(
  request: RestoreRequest,
  deps: RestoreDeps,
  at: {
    readonly place: BackupPlace;
    readonly backup: BackupManifest;
    readonly paths: HomePaths;
    readonly data: string;
    readonly account: Account | null;
    readonly damage: Refusal | null;
  },
): Promise<Pick<Restored, "until" | "counts" | "uploads">> {
  const { atMs } = request;
  const target: Record<string, string> =
    atMs === null ? {} : { recovery_target_time: isoTime(atMs).replace("T", " ").replace("Z", "+00") };
  const logFile = join(at.paths.logs, "postgres.log");
  const begin = (settings: Readonly<Record<string, string>>) =>
    createManagedPostgres({
      clock: deps.clock,
      random: deps.random,
      config: {
        ...request.postgres,
        settings: {
          restore_command: "false",
          recovery_target_timeline: "current",
          recovery_target_action: "promote",
          hot_standby: "off",
          ...request.postgres.settings,
          ...settings,
        },
      },
      base: at.paths.postgres,
      logFile,
      path: deps.path,
      readyBoundMs: READY_MS,
    });
  const signalFile = join(at.data, "recovery.signal");
  await writeFile(signalFile, "", { mode: 0o600 });
  if (at.account !== null) await chown(signalFile, at.account.uid, at.account.gid);
  let server = begin(target);
  try {
    let up = await server
      .start(() => undefined, deps.signal)
      .catch(async (error: unknown) => {
        // Nothing was written after that moment: all there is is what was asked for.
        const log = await readFile(logFile, "utf8").catch(() => "");
        if (!log.slice(-16_384).includes("before configured recovery target was reached")) throw error;
        return null;
      });
    if (up === null) {
      // But not when more was there, and is damaged.
      if (at.damage !== null) throw at.damage;
      await server.stop();
      server = begin({});
      up = await server.start(() => undefined, deps.signal);
    }
    deps.say("uploads");
    return await withClient(up.url, async (client) => {
      const last = await client.query<{ at: Date | null }>("SELECT pg_last_xact_replay_timestamp() AS at");
      await endApprovals(client);
      const uploads = await fetchUploads({ client, place: at.place, directory: at.paths.uploads, signal: deps.signal });
      return { until: last.rows[0]?.at?.toISOString() ?? null, counts: await countRows(client), uploads };
    });
  } finally {
    await server.stop();
  }
}

/** What an administrator had asked for was done on the lost machine, or is to be asked for anew. */
async function endApprovals(client: Client): Promise<void> {
  for (const table of ["owl.approval", "owl.rollout_cancel"]) {
    const there = await client.query<{ there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
    if (there.rows[0]?.there)
      await client.query(
        `UPDATE ${table} SET state = 'refused', ended_at = clock_timestamp() WHERE state IN ('waiting', 'running')`,
      );
  }
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: "owl/restore" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A file that is gone is told before hours of reading, not behind them. */
async function refuseCut(place: BackupPlace, backup: BackupManifest): Promise<void> {
  for (const { name, bytes } of backup.files) {
    const path = place.file("base", backup.id, name);
    const found = await stat(path).catch(() => null);
    if (found === null) throw new Refusal("backup.missing", ({ refused }) => refused.backup.missing(path));
    if (found.size !== bytes) throw new Refusal("backup.damaged", ({ refused }) => refused.backup.damaged(path));
  }
}

/** The log as far as it leads. Throws `backup.breaksOff` where what was asked for lies behind a gap. */
async function wholeChain(place: BackupPlace, backup: BackupManifest, atMs: number | null) {
  for (let look = 1; ; look++) {
    const pieces = await place.pieces();
    const chain = chainOf(backup, pieces);
    const last = chain.at(-1);
    const goesOn = pieces.some((one) => isSameLine(one, backup.postgres) && one.from > (last?.to ?? one.from));
    if (!goesOn || last === undefined) return chain;
    const { mtimeMs } = await stat(place.file("wal", pieceName(last)));
    if (atMs !== null && atMs <= mtimeMs) return chain;
    // A listing while pieces are joined may miss some of them.
    if (look < 3) continue;
    const until = isoTime(Math.floor(mtimeMs));
    throw new Refusal("backup.breaksOff", ({ refused }) => refused.backup.breaksOff(place.path, until));
  }
}

async function choose(place: BackupPlace, { directory, backup, atMs }: RestoreRequest): Promise<BackupManifest> {
  const backups = await place.backups();
  const [oldest] = backups;
  const [unreadable] = oldest === undefined ? await place.unreadable() : [];
  if (unreadable !== undefined) {
    const file = place.file("base", unreadable, MANIFEST);
    throw new Refusal("backup.damaged", ({ refused }) => refused.backup.damaged(file));
  }
  if (oldest === undefined) throw new Refusal("backup.noneYet", ({ refused }) => refused.backup.noneYet(directory));
  if (backup !== null) {
    const named = backups.find(({ id }) => id === backup);
    if (named === undefined)
      throw new Refusal("backup.unknownBackup", ({ refused }) => refused.backup.unknownBackup(backup));
    return named;
  }
  const found = backupFor(backups, atMs);
  if (found !== null) return found;
  const at = isoTime(atMs ?? 0);
  throw new Refusal("backup.noneBefore", ({ refused }) => refused.backup.noneBefore(at, oldest.endedAt));
}

async function refuseUsed(home: string, mark: string): Promise<void> {
  const paths = homePaths(home);
  if (await isThere(join(home, mark))) return;
  for (const path of [paths.stateFile, paths.postgresData, join(paths.postgres, "place.json")])
    if (await isThere(path)) throw new Refusal("backup.homeInUse", ({ refused }) => refused.backup.homeInUse(home));
  const foreign = (await readdir(home).catch(() => [])).find(isForeign);
  if (foreign !== undefined)
    throw new Refusal("backup.homeForeign", ({ refused }) => refused.backup.homeForeign(home, foreign));
}

async function refuseFull(home: string, neededBytes: number): Promise<void> {
  let there = home;
  while (!(await isThere(there)) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize, blocks } = await statfs(there);
  const freeBytes = bavail * bsize;
  if (blocks === 0 || freeBytes >= neededBytes) return;
  const [needed, free] = [formatSize(neededBytes), formatSize(freeBytes)];
  throw new Refusal("backup.noSpace", ({ refused }) => refused.backup.noSpace(home, needed, free));
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/** As root, for a home that is somebody else's (a service's): whose all of it is to be. */
async function ownerOf(home: string): Promise<Account | null> {
  const found = process.geteuid?.() === 0 ? await stat(home).catch(() => null) : null;
  return found === null || found.uid === 0 ? null : { name: `uid ${found.uid}`, uid: found.uid, gid: found.gid };
}

async function chosenAccount(): Promise<Account | null> {
  return chooseAccount({ euid: process.geteuid?.() ?? 0, accounts: await readAccounts(), dataOwner: null });
}

async function giveTo({ uid, gid }: Account, paths: HomePaths): Promise<void> {
  const names = (await readdir(paths.home))
    .filter((name) => name !== "uploads" && !name.startsWith("."))
    .map((name) => join(paths.home, name));
  await runProgram("chown", ["-R", `${uid}:${gid}`, ...names]);
}
