// One backup: the data directory as PostgreSQL sends it, then the state file, the secrets and the names of what else
// belongs to it, then the manifest. Invariant: a directory without a manifest is no backup.

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { OwnRelease } from "../../../config/deploy-api.ts";
import { OwlError } from "../../../config/errors.ts";
import type { HomePaths } from "../../../config/home.ts";
import { type Clock, isoTime } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { readApplied } from "../migrate.ts";
import { type BackupManifest, backupId, MANIFEST, type StoredFile } from "./core/manifest.ts";
import { isClockBehind } from "./core/schedule.ts";
import { formatLsn, type Lsn } from "./core/wal.ts";
import type { OwnPlace } from "./directory.ts";
import { keepReleases } from "./own-releases.ts";
import { type BasePart, openReplication, type ServerPosition } from "./replication.ts";

export const FILES = {
  data: "data.tar.zst",
  list: "backup_manifest.zst",
  state: "state.sqlite.zst",
  home: "home.json.zst",
};
/** Files of the home that hold its secrets, relative to it. */
export const SECRETS = ["postgres/admin-password", "postgres/owl-password", "initial-admin-password"] as const;
const COUNTED = [
  "account",
  "conversation",
  "turn",
  "transcription",
  "batch",
  "playbook_run",
  "schema_analysis",
  "upload",
];

/** What `home.json` holds. */
export interface HomeFiles {
  readonly secrets: Readonly<Record<string, string>>;
  readonly config: { readonly path: string; readonly text: string } | null;
  /** Absent in backups of an Owl that did not keep them. */
  readonly ownReleases?: readonly OwnRelease[];
}

interface BaseParts {
  readonly clock: Clock;
  readonly place: OwnPlace;
  readonly paths: HomePaths;
  readonly configFile: string | null;
  readonly adminUrl: string;
  /** The application's database. */
  readonly url: string;
  readonly installation: string;
  readonly version: string;
  readonly server: ServerPosition;
  readonly epoch: number;
  readonly bytesPerS: number;
  /** At once, whatever the checkpoint costs. */
  readonly fast: boolean;
  readonly reached: (lsn: Lsn) => Promise<void>;
  /** All uploads of now are in the directory. */
  readonly bringUploads: () => Promise<void>;
}

/** Takes it; answers its manifest. What a cut one left is removed by the next pruning. */
export async function takeBase(parts: BaseParts): Promise<BackupManifest> {
  const { clock, place, server } = parts;
  const startedMs = clock.now();
  const id = backupId(startedMs);
  const before = await place.backups();
  const newest = before.at(-1);
  if (newest !== undefined && (isClockBehind(startedMs, Date.parse(newest.endedAt)) || newest.id >= id)) {
    const { endedAt } = newest;
    throw new Refusal("backup.clockBehind", ({ refused }) => refused.backup.clockBehind(endedAt));
  }
  await place.makeDirectory("base", id);
  const keep = async (name: string, plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredFile> =>
    await place.put(join("base", id), plain, () => name);

  const { files, span, bytes } = await readServer(parts, id, keep);
  await parts.reached(span.end);
  const database = await facts(parts.url);
  await parts.bringUploads();
  files.push(await keep(FILES.state, [await copyState(parts.paths)]));
  const known = before.flatMap(({ ownReleases }) => ownReleases);
  const own = await keepReleases(place, parts.paths.ownReleases, known);
  const home: HomeFiles = { ...(await homeFiles(parts)), ownReleases: own.records };
  files.push(await keep(FILES.home, [Buffer.from(JSON.stringify(home))]));
  const manifest: BackupManifest = {
    format: 1,
    id,
    installation: parts.installation,
    startedAt: isoTime(startedMs),
    endedAt: isoTime(clock.now()),
    version: parts.version,
    migrations: database.migrations,
    postgres: {
      major: database.major,
      systemId: server.systemId,
      epoch: parts.epoch,
      timeline: span.timeline,
      segmentBytes: Number(server.segmentBytes),
      start: formatLsn(span.start),
      end: formatLsn(span.end),
      bytes,
    },
    counts: database.counts,
    releases: await readdir(parts.paths.releases).catch(() => []),
    files,
    uploads: (await place.uploads()).map(({ name }) => name),
    ownReleases: [...own.files],
  };
  await place.putText(join("base", id), MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

async function readServer(
  { adminUrl, fast, bytesPerS }: BaseParts,
  id: string,
  keep: (name: string, plain: AsyncIterable<Uint8Array>) => Promise<StoredFile>,
) {
  const replication = await openReplication(adminUrl);
  try {
    const backup = replication.baseBackup(`owl ${id}`, { fast, bytesPerS });
    const parts = backup.parts[Symbol.asyncIterator]();
    let bytes = 0;
    const section = async function* (ends: BasePart["kind"] | null): AsyncGenerator<Buffer> {
      for (let archives = 0; ; ) {
        const { value, done } = await parts.next();
        if (done || value.kind === ends) return;
        if (value.kind === "archive" && ++archives > 1)
          throw new OwlError(
            "backup.tablespace",
            "The database has tablespaces of its own, which Owl does not back up.",
          );
        if (value.kind !== "data") continue;
        bytes += value.bytes.length;
        yield value.bytes;
      }
    };
    const data = await keep(FILES.data, section("manifest"));
    const dataBytes = bytes;
    const list = await keep(FILES.list, section(null));
    return { files: [data, list], span: backup.span(), bytes: dataBytes };
  } finally {
    await replication.end();
  }
}

async function facts(url: string): Promise<Pick<BackupManifest, "migrations" | "counts"> & { readonly major: number }> {
  const client = new Client({ connectionString: url, application_name: "owl/backup", query_timeout: 60_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const applied = await readApplied(client);
    const { rows } = await client.query<{ n: string }>("SHOW server_version_num");
    const major = Math.floor(Number(Object.values(rows[0] ?? {})[0]) / 10_000);
    return {
      migrations: Object.fromEntries(applied.map(({ name, sha256 }) => [name, sha256])),
      major,
      counts: await countRows(client),
    };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Rows of the application's tables, those that are there. */
export async function countRows(client: Client): Promise<Record<string, number>> {
  const there = await client.query<{ name: string }>(
    "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'owl' AND c.relname = ANY($1)",
    [COUNTED],
  );
  const counts: Record<string, number> = {};
  for (const { name } of there.rows) {
    const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM owl.${name}`);
    counts[name] = Number(rows[0]?.n ?? 0);
  }
  return counts;
}

/** The state file as one whole, while owld writes on. */
async function copyState({ state, stateFile }: HomePaths): Promise<Buffer> {
  const copy = join(state, "copy-for-backup.sqlite");
  await rm(copy, { force: true });
  const database = new DatabaseSync(stateFile, { readOnly: true, timeout: 10_000 });
  try {
    database.prepare("VACUUM INTO ?").run(copy);
  } finally {
    database.close();
  }
  const bytes = await readFile(copy);
  await rm(copy, { force: true });
  return bytes;
}

async function homeFiles({ paths, configFile }: BaseParts): Promise<HomeFiles> {
  const secrets: Record<string, string> = {};
  for (const name of SECRETS) {
    const text = await readFile(join(paths.home, name), "utf8").catch(() => null);
    if (text !== null) secrets[name] = text;
  }
  const text = configFile === null ? null : await readFile(configFile, "utf8").catch(() => null);
  return { secrets, config: configFile === null || text === null ? null : { path: configFile, text } };
}
