// A managed database into the next major version of PostgreSQL, while owld is stopped: the new cluster is made, filled
// and compared beside the old one, then the two change places. The old one stays for the way back.
// Invariant: until they change places nothing of the old one is written but by its own server; killed anywhere, the
// next start of owld finds the old cluster or the new one, whole, and removes what was left of the attempt.

import { copyFile, mkdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "pg";
import type { PostgresConfig } from "../../../config/config.ts";
import type { OwlError } from "../../../config/errors.ts";
import { type HomePaths, homePaths } from "../../../config/home.ts";
import { type Clock, isoTime, type Random } from "../../../config/time.ts";
import { formatSize } from "../../../config/units.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { replaceFile, syncDirectory, syncTree } from "../../release/sync.ts";
import { walk } from "../../release/verify.ts";
import { RESTORED } from "../../state/home.ts";
import { takeOwnerLock } from "../../state/owner-lock.ts";
import { openStore } from "../../state/store.ts";
import type { Account } from "../account.ts";
import { countRows } from "../backups/base.ts";
import { noteRewound } from "../backups/service.ts";
import { listBinaries } from "../binaries.ts";
import { createCluster, dataMajor } from "../cluster.ts";
import { undoCutRestore } from "../copy-directory.ts";
import { listDumpPrograms } from "../dump-programs.ts";
import { createManagedPostgres, type ManagedDeps } from "../managed.ts";
import { preparePlace, recordedDirectory } from "../place.ts";
import { ADMIN_ROLE } from "../roles.ts";
import { readOrMakeSecret } from "../secret-file.ts";
import { attemptIn, formerIn } from "./attempt.ts";
import { type Choice, choosePrograms } from "./choice.ts";
import { analyze, canUpgrade, closeAgain, dumpServer, loadServer, openFunctions, upgradeData } from "./move.ts";

const SPARE_BYTES = 256 * 2 ** 20;
/** Two starts and stops of a server, and what a machine of two cores does of the rest in a second. */
const FIXED_S = 20;
const BYTES_PER_S = { pg_upgrade: 100 * 2 ** 20, dump: 10 * 2 ** 20 };

interface UpgradeRequest {
  readonly home: string;
  /** The major version, or null: the newest there is. */
  readonly to: number | null;
  readonly postgres: PostgresConfig;
}

interface UpgradeDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly path: string;
  readonly say: (step: string) => void;
  readonly signal: AbortSignal;
}

interface UpgradePlan {
  readonly from: string;
  readonly to: string;
  readonly way: "pg_upgrade" | "dump";
  readonly dataBytes: number;
  readonly neededBytes: number;
  readonly seconds: number;
  /** Where the old cluster lies afterwards. */
  readonly former: string;
}

interface Planned extends Choice {
  readonly plan: UpgradePlan;
  readonly dir: string;
  readonly data: string;
}

interface Upgraded extends UpgradePlan {
  readonly elapsedMs: number;
}

export async function planUpgrade(request: UpgradeRequest, deps: Pick<UpgradeDeps, "path">): Promise<Planned> {
  const { home, postgres } = request;
  const paths = homePaths(home);
  await refuseOtherOwner(home);
  const dir = await recordedDirectory(paths.postgres);
  const data = join(dir, "data");
  const major = await dataMajor(data);
  if (major === null) throw new Refusal("upgrade.none", ({ refused }) => refused.upgrade.none(home));
  const found = [...(await listBinaries({ configured: "auto", path: deps.path }))];
  if (postgres.binaries !== "auto") {
    const named = await listBinaries({ configured: postgres.binaries, path: deps.path });
    // Left as it is, owld would not start the new cluster.
    if (named.every((one) => one.major <= major))
      throw new Refusal("upgrade.configured", ({ refused }) => refused.upgrade.configured(postgres.binaries));
    const old = found.filter((one) => one.major === major);
    found.splice(0, found.length, ...named, ...old);
  }
  const dumps = await listDumpPrograms(deps.path, ["pg_dumpall"]);
  const choice = choosePrograms({ major, wanted: request.to, found, dumps, canUpgrade });
  const dataBytes = await sizeOf(data);
  const way = choice.way.kind;
  const neededBytes = dataBytes * (way === "dump" ? 2 : 1) + SPARE_BYTES;
  const { bavail, bsize, blocks } = await statfs(dir);
  if (blocks > 0 && bavail * bsize < neededBytes) {
    const [needed, free] = [formatSize(neededBytes), formatSize(bavail * bsize)];
    throw new Refusal("upgrade.noSpace", ({ refused }) => refused.upgrade.noSpace(dir, needed, free));
  }
  const plan: UpgradePlan = {
    from: choice.from.version,
    to: choice.to.version,
    way,
    dataBytes,
    neededBytes,
    seconds: Math.round(FIXED_S + dataBytes / BYTES_PER_S[way]),
    former: formerIn(dir),
  };
  return { ...choice, plan, dir, data };
}

export async function upgrade(request: UpgradeRequest, deps: UpgradeDeps): Promise<Upgraded> {
  const startedMs = deps.clock.monotonicMs();
  const paths = homePaths(request.home);
  return await alone(paths, async () => {
    const planned = await planUpgrade(request, deps);
    const { plan, dir, data } = planned;
    const attempt = attemptIn(dir);
    try {
      await fill(request, deps, planned, paths);
      deps.say("swap");
      await syncTree(attempt);
      // The log of backups goes on along another line, whatever becomes of the rest.
      countLine(paths, deps.clock);
      await exchange(data, join(attempt, "data"), plan.former);
    } finally {
      await rm(attempt, { recursive: true, force: true, maxRetries: 5 });
    }
    return { ...plan, elapsedMs: Math.round(deps.clock.monotonicMs() - startedMs) };
  });
}

/** The new cluster, with all that the old one holds; both servers stopped. */
async function fill(request: UpgradeRequest, deps: UpgradeDeps, planned: Planned, paths: HomePaths): Promise<void> {
  const { clock, random, say, signal } = deps;
  const { from, to, way, dir, data } = planned;
  const attempt = attemptIn(dir);
  const directory = join(attempt, "dump");
  const server = (of: Partial<ManagedDeps>) =>
    createManagedPostgres({
      clock,
      random,
      // Nobody else's to connect to meanwhile.
      config: { ...request.postgres, settings: { ...request.postgres.settings, listen_addresses: "" } },
      base: paths.postgres,
      logFile: join(paths.logs, "postgres.log"),
      path: deps.path,
      ...of,
    });
  const withBinaries = (of: Choice["from"]): Partial<ManagedDeps> =>
    of.source === "package"
      ? { config: quiet(request.postgres, "auto"), path: "", facts: { systemRoots: [] } }
      : { config: quiet(request.postgres, of.dir) };

  say("old");
  const old = server(withBinaries(from));
  let account: Account | null = null;
  let before: Record<string, number> = {};
  let names: readonly string[] = [];
  let closed: Awaited<ReturnType<typeof openFunctions>> = new Map();
  try {
    const { adminUrl, url } = await old.start(() => undefined, signal);
    ({ account } = old.place());
    before = await counts(url);
    await mkdir(attempt, { recursive: true, mode: 0o711 });
    for (const name of ["admin-password", "owl-password"])
      await copyFile(join(paths.postgres, name), join(attempt, name));
    closed = await openFunctions(adminUrl);
    if (way.kind === "dump") {
      say("dump");
      names = await dumpServer({ adminUrl, programs: way.dir, directory, signal }).finally(() =>
        closeAgain(adminUrl, closed),
      );
    }
  } finally {
    await old.stop();
  }

  say("new");
  if (way.kind === "pg_upgrade") {
    const password = await readOrMakeSecret(join(attempt, "admin-password"), random);
    const place = await preparePlace({ base: attempt, account });
    const admin = { name: ADMIN_ROLE, password };
    await createCluster({ binaries: to, dir: attempt, account, admin, attempt: random.token(6), signal });
    const programs = { from: { dir: from.dir, data }, to: { dir: to.dir, data: place.data } };
    await upgradeData({ ...programs, password, directory: join(attempt, "work"), account, signal });
  }
  const fresh = server({ ...withBinaries(to), base: attempt, account });
  try {
    const { adminUrl, url } = await fresh.start(() => undefined, signal);
    if (way.kind === "dump") {
      say("load");
      await loadServer({ adminUrl, programs: way.dir, directory, signal }, names);
    }
    await closeAgain(adminUrl, closed);
    say("compare");
    await analyze(adminUrl);
    const after = await counts(url);
    for (const [table, count] of Object.entries(before))
      if (after[table] !== count)
        throw new Refusal("upgrade.differs", ({ refused }) => refused.upgrade.differs(table, count, after[table] ?? 0));
  } finally {
    await fresh.stop();
  }
}

/** The former cluster in place of the present one, which takes its place there: so this way back has one, too. */
export async function goBack(
  { home }: Pick<UpgradeRequest, "home">,
  { clock, say }: Pick<UpgradeDeps, "clock" | "say">,
): Promise<{ readonly from: number; readonly to: number; readonly former: string }> {
  const paths = homePaths(home);
  await refuseOtherOwner(home);
  return await alone(paths, async () => {
    const dir = await recordedDirectory(paths.postgres);
    const data = join(dir, "data");
    await undoCutRestore(data);
    const former = formerIn(dir);
    const [from, to] = [await dataMajor(data), await dataMajor(former)];
    if (from === null || to === null)
      throw new Refusal("upgrade.noFormer", ({ refused }) => refused.upgrade.noFormer());
    say("swap");
    countLine(paths, clock);
    // Its jobs may have been run since: they are ended or requeued by their kind's rule first.
    replaceFile(join(home, RESTORED), `${JSON.stringify({ at: isoTime(clock.now()) })}\n`);
    await exchange(data, former, former);
    return { from, to, former };
  });
}

/** `incoming` becomes the data directory, which goes to `outgoing`. Cut between two renames, the next start undoes it. */
async function exchange(data: string, incoming: string, outgoing: string): Promise<void> {
  const aside = `${data}.replaced`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(dirname(outgoing), { recursive: true, mode: 0o711 });
  if (incoming !== outgoing) await rm(outgoing, { recursive: true, force: true });
  await rename(data, aside);
  await rename(incoming, data);
  syncDirectory(dirname(data));
  await rename(aside, outgoing);
  syncDirectory(dirname(outgoing));
}

/** `work` while no owld runs on this home, and none can begin. Throws `upgrade.running`. */
async function alone<T>({ state }: HomePaths, work: () => Promise<T>): Promise<T> {
  let lock: ReturnType<typeof takeOwnerLock>;
  try {
    lock = takeOwnerLock(state, process.pid);
  } catch (error) {
    if ((error as OwlError).code !== "owld.running") throw error;
    throw new Refusal("upgrade.running", ({ refused }) => refused.upgrade.running());
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function countLine({ stateFile }: HomePaths, clock: Clock): void {
  const { store } = openStore(stateFile, isoTime(clock.now()).replace(/[:.]/g, "-"));
  noteRewound({ store });
  store.close();
}

const quiet = (postgres: PostgresConfig, binaries: string): PostgresConfig => ({
  ...postgres,
  binaries,
  settings: { ...postgres.settings, listen_addresses: "" },
});

async function counts(url: string): Promise<Record<string, number>> {
  const client = new Client({ connectionString: url, application_name: "owl/upgrade" });
  client.on("error", () => undefined);
  await client.connect();
  return await countRows(client).finally(() => client.end().catch(() => undefined));
}

/** Files written by root would not be the service's to use. */
async function refuseOtherOwner(home: string): Promise<void> {
  const { uid } = await stat(home).catch(() => ({ uid: 0 }));
  if (process.geteuid?.() === 0 && uid !== 0)
    throw new Refusal("upgrade.owner", ({ refused }) => refused.upgrade.owner(home, uid));
}

async function sizeOf(dir: string): Promise<number> {
  let bytes = 0;
  for await (const path of walk(dir, "")) bytes += (await stat(join(dir, path)).catch(() => ({ size: 0 }))).size;
  return bytes;
}
