// The PostgreSQL that Owl runs itself: created once, started or adopted, restarted only when its effective settings
// or programs changed by content. It is a detached process and outlives owld.
// Invariant: every step asks first whether it is done already, so that a start killed anywhere is simply repeated.

import { chmod, mkdir, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PostgresConfig } from "../../config/config.ts";
import { invariant, OwlError } from "../../config/errors.ts";
import type { Clock, Random } from "../../config/time.ts";
import { type Account, chooseAccount, readAccounts } from "./account.ts";
import { type Binaries, findBinaries, hashBinaries } from "./binaries.ts";
import { createCluster, dataMajor } from "./cluster.ts";
import { undoCutRestore } from "./copy-directory.ts";
import { lockData } from "./data-lock.ts";
import { copyPackageBinaries } from "./package-binaries.ts";
import { type Place, type PlaceWanted, preparePlace, recordedDirectory } from "./place.ts";
import { clearCrashed, findPostmaster, type Postmaster, startPostmaster, stopPostmaster } from "./postmaster.ts";
import { lastLines, runProgram } from "./program.ts";
import { ADMIN_ROLE, DATABASE, ensureDatabase, OWNER_ROLE, socketUrl } from "./roles.ts";
import { readOrMakeSecret } from "./secret-file.ts";
import { accessText, fingerprint, type ServerSettings, serverSettings, settingsText } from "./server-settings.ts";
import { clearAttempt } from "./upgrade/attempt.ts";

/** How long a server may recover after a crash before the start is called failed. */
const READY_BOUND_MS = 300_000;

export interface ManagedDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly config: PostgresConfig;
  /** OWL_HOME/postgres */
  readonly base: string;
  readonly logFile: string;
  /** PATH, for finding the system's programs. */
  readonly path: string;
  /** As whom it runs; absent: the owner of its data, or whoever is there for it. */
  readonly account?: Account | null;
  /** Up is a server that replays another one's log, for as long as there is some. */
  readonly isStandby?: boolean;
  /** Reading a backup's log takes longer than recovering from a crash. */
  readonly readyBoundMs?: number;
  /** Tests: what replaces the machine's own facts. */
  readonly facts?: Partial<Pick<PlaceWanted, "elsewhere" | "shortRoots">> & {
    readonly euid?: number;
    readonly systemRoots?: readonly string[];
    readonly packageNative?: string | null;
  };
}

interface ManagedServer {
  readonly postmaster: Postmaster;
  readonly outcome: "started" | "adopted" | "restarted";
  /** As the role `owl`, database `owl`. */
  readonly url: string;
  /** As the superuser, database `postgres`. */
  readonly adminUrl: string;
  readonly place: Place;
  readonly binaries: Binaries;
}

export interface ManagedPostgres {
  /** Brings the server up; resolves when it answers and the database is there. */
  start(say: (message: string) => void, signal: AbortSignal): Promise<ManagedServer>;
  /** The server that runs now, or null: gone, or never started here. */
  living(): Promise<Postmaster | null>;
  /** Where its data lies and as whom it runs; after a first `start` only. */
  place(): { readonly data: string; readonly dir: string; readonly account: Account | null };
  /** Stops the server and keeps the data directory's lock: `start` follows. */
  rest(): Promise<void>;
  /** Stops it (SIGINT, then SIGQUIT). Tolerates never started and stopped already. */
  stop(): Promise<void>;
  /** Gives the data directory's lock back and leaves the server running. */
  letGo(): void;
}

/** A managed PostgreSQL under `deps.base`; touches nothing before `start`. */
export function createManagedPostgres(deps: ManagedDeps): ManagedPostgres {
  const { clock, random, base } = deps;
  let unlock: (() => void) | null = null;
  let place: Place | null = null;
  let runsAs: Account | null = null;

  async function rest(): Promise<void> {
    const data = place?.data ?? null;
    const running = data === null ? null : await findPostmaster(data);
    if (data !== null && running) await stopPostmaster(data, running, clock);
  }

  async function start(say: (message: string) => void, signal: AbortSignal): Promise<ManagedServer> {
    const settings = serverSettings(deps.config);
    const account = await resolveAccount(deps);
    const located = await preparePlace({ base, account, ...deps.facts });
    place = located;
    runsAs = account;
    if (located.dir !== base) say(`The database is in ${located.dir}: its account cannot enter ${base}.`);
    unlock ??= await lockData(join(located.dir, "owner.sqlite"));
    const secrets = {
      admin: await readOrMakeSecret(join(base, "admin-password"), random),
      owner: await readOrMakeSecret(join(base, "owl-password"), random),
    };
    await undoCutRestore(located.data);
    await clearAttempt(located.dir, clock);
    const major = await dataMajor(located.data);
    const binaries = await resolveBinaries(deps, major, located);
    if (major === null) {
      say(`Creating the database (PostgreSQL ${binaries.version}).`);
      const admin = { name: ADMIN_ROLE, password: secrets.admin };
      await createCluster({ binaries, dir: located.dir, account, admin, attempt: random.token(6), signal });
    }
    const wanted = fingerprint(settings, await hashBinaries(binaries.dir));
    const running = await bringUp({ settings, account, located, binaries, wanted, say, signal });
    const socket = { socketDir: located.socketDir, port: settings.port };
    const url = socketUrl({ user: OWNER_ROLE, password: secrets.owner, database: DATABASE, ...socket });
    const adminUrl = socketUrl({ user: ADMIN_ROLE, password: secrets.admin, database: "postgres", ...socket });
    if (!deps.isStandby) await ensureDatabase(adminUrl, url, secrets.owner);
    return { ...running, url, adminUrl, place: located, binaries };
  }

  async function bringUp(up: BringUp): Promise<Pick<ManagedServer, "postmaster" | "outcome">> {
    const { located, wanted, say, signal } = up;
    let outcome: ManagedServer["outcome"] = "started";
    let running = await findPostmaster(located.data);
    if (running && running.fingerprint !== wanted) {
      await writeConfiguration(up, "next");
      await checkConfiguration(up, "next");
      say("PostgreSQL restarts: its settings or its programs changed.");
      await stopPostmaster(located.data, running, clock);
      running = null;
      outcome = "restarted";
    }
    if (running) {
      await renewAccess(up, running.pid);
      return { postmaster: await waitReady(located, null, say, signal), outcome: "adopted" };
    }
    await clearCrashed(located.data, clock);
    await writeConfiguration(up, "current");
    await checkConfiguration(up, "current");
    await openLog(deps.logFile);
    const before = await logSize(deps.logFile);
    const child = await startPostmaster({
      postgres: join(up.binaries.dir, "postgres"),
      data: located.data,
      conf: located.conf,
      logFile: deps.logFile,
      account: up.account,
      fingerprint: wanted,
    });
    let exitCode: number | null | undefined;
    void child.exited.then((code) => {
      exitCode = code;
    });
    const failed = async () => {
      if (exitCode === undefined) return;
      const log = await readLogFrom(deps.logFile, before);
      throw new OwlError("postgres.start", `PostgreSQL ended during its start: ${lastLines(log)}.`, {
        next: `Its log: ${deps.logFile}`,
      });
    };
    return { postmaster: await waitReady(located, failed, say, signal), outcome };
  }

  async function waitReady(
    located: Place,
    failed: (() => Promise<void>) | null,
    say: (message: string) => void,
    signal: AbortSignal,
  ): Promise<Postmaster> {
    const startedMs = clock.monotonicMs();
    let saidMs = startedMs;
    for (;;) {
      signal.throwIfAborted();
      const found = await findPostmaster(located.data);
      if (found?.status === (deps.isStandby ? "replaying" : "ready")) return found;
      // A start of an owld killed a moment ago may have won the data directory: then ours ended and its is adopted.
      if (!found) await failed?.();
      const nowMs = clock.monotonicMs();
      if (nowMs - startedMs > (deps.readyBoundMs ?? READY_BOUND_MS) || (!found && !failed)) {
        throw new OwlError("postgres.start", "PostgreSQL did not become ready.", { next: `Its log: ${deps.logFile}` });
      }
      if (nowMs - saidMs > 5_000) {
        say("PostgreSQL is still starting (it recovers after a crash).");
        saidMs = nowMs;
      }
      await clock.sleep(20, signal);
    }
  }

  return {
    start,
    async living() {
      return place === null ? null : findPostmaster(place.data);
    },
    place() {
      invariant(place !== null, "a managed server has been started before its place is asked for");
      return { data: place.data, dir: place.dir, account: runsAs };
    },
    rest,
    async stop() {
      await rest();
      unlock?.();
      unlock = null;
    },
    letGo() {
      unlock?.();
      unlock = null;
    },
  };
}

interface BringUp {
  readonly settings: ServerSettings;
  readonly account: Account | null;
  readonly located: Place;
  readonly binaries: Binaries;
  readonly wanted: string;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

async function resolveAccount({ base, account, facts }: ManagedDeps): Promise<Account | null> {
  if (account !== undefined) return account;
  const euid = facts?.euid ?? process.geteuid?.() ?? 0;
  if (euid !== 0) return null;
  const dataOwner = await stat(join(await recordedDirectory(base), "data")).catch(() => null);
  return chooseAccount({ euid, accounts: await readAccounts(), dataOwner });
}

async function resolveBinaries(deps: ManagedDeps, major: number | null, place: Place): Promise<Binaries> {
  const { config, path, facts } = deps;
  const found = await findBinaries({
    configured: config.binaries,
    major,
    path,
    ...(facts?.systemRoots ? { systemRoots: facts.systemRoots } : {}),
    ...(facts?.packageNative === undefined ? {} : { packageNative: facts.packageNative }),
  });
  if (found.source !== "package") return found;
  return { ...found, dir: await copyPackageBinaries(found.dir, place.binaries) };
}

/** `next` is written beside the files in use, to be checked before a running server is stopped for them. */
async function writeConfiguration(up: BringUp, which: "current" | "next"): Promise<void> {
  const dir = confDirectory(up.located, which);
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o755);
  const files = {
    "postgresql.conf": settingsText(up.settings, up.located.socketDir, dir),
    "pg_hba.conf": accessText(up.settings, ADMIN_ROLE),
    "pg_ident.conf": "# Written by owld at each start.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(dir, `${name}.new`), text);
    await chmod(join(dir, `${name}.new`), 0o644);
    await rename(join(dir, `${name}.new`), join(dir, name));
  }
}

/** An adopted server may have been started by older code; who may connect is read again without a restart. */
async function renewAccess({ located, settings }: BringUp, pid: number): Promise<void> {
  const file = join(located.conf, "pg_hba.conf");
  const text = accessText(settings, ADMIN_ROLE);
  if ((await readFile(file, "utf8").catch(() => null)) === text) return;
  await writeFile(`${file}.new`, text);
  await chmod(`${file}.new`, 0o644);
  await rename(`${file}.new`, file);
  process.kill(pid, "SIGHUP");
}

async function checkConfiguration(up: BringUp, which: "current" | "next"): Promise<void> {
  const file = join(confDirectory(up.located, which), "postgresql.conf");
  const args = ["-D", up.located.data, `--config-file=${file}`, "-C", "port"];
  const { ok, output } = await runProgram(join(up.binaries.dir, "postgres"), args, { account: up.account });
  if (ok) return;
  throw new OwlError("postgres.setting", `PostgreSQL does not accept its settings: ${lastLines(output)}.`, {
    next: "Correct postgres.settings in owl.yaml.",
  });
}

function confDirectory(place: Place, which: "current" | "next"): string {
  return which === "current" ? place.conf : join(place.conf, "next");
}

async function openLog(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await (await open(file, "a", 0o640)).close();
}

async function logSize(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}

async function readLogFrom(file: string, from: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(16_384), position: from });
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await handle.close();
  }
}
