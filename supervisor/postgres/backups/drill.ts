// A drill: the newest backup restored into a scratch home, started apart from what runs, looked at and thrown away. What
// it measured is kept in OWL_HOME/drills. Invariants: nothing of the running system is written but one empty message in
// its log; in the scratch home no worker runs, so no tool, mail or schedule does.

import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import type { DrillStatus } from "../../../config/control-api.ts";
import { asError, OwlError } from "../../../config/errors.ts";
import { type HomePaths, homePaths } from "../../../config/home.ts";
import { isoTime } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { freePort } from "../../process/free-port.ts";
import { replaceFile } from "../../release/sync.ts";
import { DATABASE, OWNER_ROLE, socketUrl } from "../roles.ts";
import { countRows } from "./base.ts";
import { parseLsn } from "./core/wal.ts";
import { openPlace } from "./directory.ts";
import { readPassphrase } from "./passphrase.ts";
import { type RestoreDeps, type Restored, type RestoreRequest, restore } from "./restore.ts";
import { type Scratch, takeScratch } from "./scratch.ts";
import { signedInPage } from "./signed-in-page.ts";

const PROBE_MS = 60_000;
const LOOK_MS = 100;
const KEEP_REPORTS = 20;
const NEWEST = "newest.json";

interface DrillReport extends DrillStatus {
  readonly home: string;
  readonly restoredUntil: string | null;
  /** Rows of the restored home, and of the running one before and after. */
  readonly counts: Readonly<Record<string, number>>;
  readonly uploads: number;
  /** null: the backup is of a team's own services, which are not started. */
  readonly page: string | null;
  readonly restoreMs: number;
}

interface Living {
  readonly rpoMs: number;
  readonly at: Date;
  readonly counts: Readonly<Record<string, number>>;
}

type DrillRequest = Pick<RestoreRequest, "directory" | "home" | "passphraseFile" | "postgres">;

/** Never rejects for what it finds: that is the report. `home`: the running one. Throws `backup.drillRuns`. */
export async function drill(
  request: DrillRequest,
  deps: RestoreDeps,
): Promise<DrillReport & { readonly file: string }> {
  const { clock, random, say } = deps;
  const paths = homePaths(request.home);
  const scratch = await takeScratch(paths, clock);
  const at = isoTime(clock.now());
  let report: DrillReport = {
    ...{ backup: "", at, passed: false, rpoMs: null, rtoMs: null, reason: null, home: request.home },
    ...{ restoredUntil: null, counts: {}, uploads: 0, page: null, restoreMs: 0 },
  };
  try {
    say("probe");
    const living = await probe(request, paths, deps);
    const startedMs = clock.monotonicMs();
    const restored = await restore({ ...request, ...fresh(scratch.home) }, deps);
    report = { ...report, ...told(restored), rpoMs: living?.rpoMs ?? null };
    say("start");
    const page = await seen(scratch, restored, deps);
    report = { ...report, page, rtoMs: Math.round(clock.monotonicMs() - startedMs) };
    say("check");
    await compare(restored, living, paths);
    report = { ...report, passed: true };
  } catch (caught) {
    const error = asError(caught);
    report = {
      ...report,
      reason: error instanceof OwlError && error.next ? `${error.message} ${error.next}` : error.message,
    };
  } finally {
    await scratch.throwAway();
  }
  return { ...report, file: await keep(paths, report, random.token(3)) };
}

/** What the last drill came to; null: there was none. */
export function lastDrill(paths: HomePaths): DrillStatus | null {
  try {
    return JSON.parse(readFileSync(join(paths.home, "drills", NEWEST), "utf8")) as DrillStatus;
  } catch {
    return null;
  }
}

const fresh = (home: string) => ({ home, atMs: null, backup: null, beside: true, configFile: null });

function told({ backup, until, counts, uploads, elapsedMs }: Restored) {
  return { backup, restoredUntil: until, counts, uploads: uploads.complete, restoreMs: elapsedMs };
}

/** A write on the running system, and how long until the backup directory holds it. null: none runs here. */
async function probe(request: DrillRequest, paths: HomePaths, { clock, signal }: RestoreDeps): Promise<Living | null> {
  const client = await connect(paths);
  if (client === null) return null;
  try {
    const place = await openPlace(request.directory, await readPassphrase(request.passphraseFile));
    const fromMs = clock.monotonicMs();
    const { rows } = await client.query<{ lsn: string; at: Date }>(
      "SELECT pg_logical_emit_message(true, 'owl', 'drill')::text AS lsn, clock_timestamp() AS at",
    );
    const [{ lsn, at } = { lsn: "0/0", at: new Date(0) }] = rows;
    const counts = await countRows(client);
    const newest = (await place.backups()).at(-1)?.postgres;
    const wanted = parseLsn(lsn);
    while (!(await place.pieces()).some((one) => one.epoch === newest?.epoch && one.to >= wanted)) {
      if (clock.monotonicMs() - fromMs > PROBE_MS)
        throw new Refusal("backup.noProbe", ({ refused }) => refused.backup.noProbe(PROBE_MS / 1_000));
      await clock.sleep(LOOK_MS, signal);
    }
    return { rpoMs: Math.round(clock.monotonicMs() - fromMs), at, counts };
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect({ postgres }: HomePaths): Promise<Client | null> {
  const password = (await readFile(join(postgres, "owl-password"), "utf8").catch(() => "")).trim();
  if (password === "") return null;
  const record = JSON.parse(await readFile(join(postgres, "place.json"), "utf8").catch(() => "{}")) as {
    readonly socketDir?: string;
  };
  const socketDir = record.socketDir ?? join(postgres, "run");
  const url = socketUrl({ user: OWNER_ROLE, password, database: DATABASE, socketDir, port: 5432 });
  const client = new Client({ connectionString: url, application_name: "owl/drill", query_timeout: 60_000 });
  client.on("error", () => undefined);
  return await client.connect().then(
    () => client,
    () => null,
  );
}

/** Starts the scratch home and signs in; answers the page that was seen. null: there is none of ours to see. */
async function seen(scratch: Scratch, restored: Restored, { clock, random, signal }: RestoreDeps) {
  if (!("account" in restored.counts)) return null;
  const port = await freePort();
  const socket = homePaths(scratch.home).controlSocket;
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  signal.addEventListener("abort", () => over.reject(asError(signal.reason)), { once: true });
  return await scratch.whileUp(port, () => Promise.race([signedInPage({ socket, port, clock, random }), over.promise]));
}

/** Each table's rows lie between what the running system had before and has now. Throws `backup.differs`. */
async function compare({ counts, uploads }: Restored, living: Living | null, paths: HomePaths): Promise<void> {
  if (uploads.missing.length > 0) {
    const ids = uploads.missing.join(", ");
    throw new Refusal("backup.uploadsMissing", ({ refused }) => refused.backup.uploadsMissing(ids));
  }
  const client = living === null ? null : await connect(paths);
  if (living === null || client === null) return;
  const now = await countRows(client).finally(() => client.end().catch(() => undefined));
  for (const [table, before] of Object.entries(living.counts)) {
    const after = now[table] ?? 0;
    const found = counts[table] ?? 0;
    if (found < Math.min(before, after) || found > Math.max(before, after))
      throw new Refusal("backup.differs", ({ refused }) => refused.backup.differs(table, found, before));
  }
}

async function keep(paths: HomePaths, report: DrillReport, token: string): Promise<string> {
  const directory = join(paths.home, "drills");
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const file = join(directory, `${report.at.replaceAll(":", "-")}-${token}.json`);
  const text = `${JSON.stringify(report, null, 2)}\n`;
  replaceFile(file, text);
  replaceFile(join(directory, NEWEST), text);
  const old = (await readdir(directory)).filter((name) => name.endsWith(".json") && name !== NEWEST).sort();
  for (const name of old.slice(0, -KEEP_REPORTS)) await rm(join(directory, name), { force: true });
  return file;
}
