// The database's part in updates: what it has, the new release's migrations, copies and the way back to them.
// Invariant: every call may be repeated after a kill in its middle.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { JOB_KINDS, type JobKind } from "../../config/config.ts";
import { pinnedNode } from "../../config/load.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import type { UpdateDatabase } from "../ports.ts";
import type { Account } from "./account.ts";
import { copyDataDirectory, readCopy, restoreDataDirectory } from "./copy-directory.ts";
import { dumpDatabase, restoreDump } from "./copy-dump.ts";
import { findDumpPrograms } from "./dump-programs.ts";
import { readApplied } from "./migrate.ts";
import { RELEASE_SCRIPTS, runReleaseStep } from "./release-step.ts";

interface UpdateDatabaseParts {
  readonly clock: Clock;
  /** OWL_HOME/copies */
  readonly copies: string;
  readonly url: () => string;
  /** owld's PATH: where pg_dump and its like are looked for first. */
  readonly path: string;
  /** Environment of the release's programs, secrets in it. */
  readonly env: () => Record<string, string>;
  /** An older database is about to take the place of the one of now. */
  readonly rewound?: () => void;
  /** null: a team's own server, copied by pg_dump. */
  readonly managed: {
    stop(): Promise<void>;
    start(say: (message: string) => void, signal: AbortSignal): Promise<void>;
    /** While it is stopped. */
    place(): { readonly data: string; readonly dir: string; readonly account: Account | null };
  } | null;
}

const JOB_TABLES: Readonly<Record<JobKind, string>> = {
  chat: "turn",
  transcription: "transcription",
  playbook: "playbook_run",
  "schema-analysis": "schema_analysis",
};
const WRITES = ["turn", "conversation", "batch", "transcription", "playbook_run", "schema_analysis", "upload", "audit"];

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one database, taken through an update by short methods.
export function createUpdateDatabase(parts: UpdateDatabaseParts): UpdateDatabase {
  const { managed } = parts;

  async function ask<T>(use: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: parts.url(), application_name: "owl/update", query_timeout: 30_000 });
    // A server that goes away rejects the statement; the event itself tells nothing more.
    client.on("error", () => undefined);
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  const programs = async (): Promise<string | null> => (await findDumpPrograms(parts.path))?.dir ?? null;
  const dumpFile = (path: string): string => join(path, "owl.dump");
  const copiesIn = (): string => (managed ? join(managed.place().dir, "copies") : parts.copies);

  /** `work` with the managed server stopped. It runs again afterwards, whatever came of the work. */
  async function whileStopped(
    server: NonNullable<typeof managed>,
    work: () => Promise<unknown>,
    say: (message: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await server.stop();
      await work();
    } catch (error) {
      // Its own failure is the news; the watch goes on trying.
      await server.start(say, signal).catch(() => undefined);
      throw error;
    }
    await server.start(say, signal);
  }

  async function copyAt(path: string): Promise<string> {
    const record = managed ? await readCopy(path) : await readDumpRecord(path);
    return record?.at ?? isoTime(0);
  }

  async function prepare(codeRoot: string, say: (message: string) => void, signal: AbortSignal): Promise<void> {
    await runReleaseStep({
      codeRoot,
      node: pinnedNode(codeRoot),
      script: RELEASE_SCRIPTS.prepare,
      env: parts.env(),
      what: "Preparing the application",
      code: "prepare.failed",
      next: "Look at the release's prepare step.",
      say,
      signal,
    });
  }

  return {
    facts: () =>
      ask(async (client) => {
        const applied = await readApplied(client);
        const queue = await client.query<{ there: boolean }>(
          "SELECT to_regclass('pgboss.version') IS NOT NULL AS there",
        );
        const version = queue.rows[0]?.there
          ? await client.query<{ version: number }>("SELECT version::int AS version FROM pgboss.version")
          : null;
        const size = await client.query<{ bytes: string }>("SELECT pg_database_size(current_database()) AS bytes");
        return {
          applied: Object.fromEntries(applied.map(({ name, sha256 }) => [name, sha256])),
          compatible: Object.fromEntries(applied.map(({ name, compatible }) => [name, compatible])),
          queueSchema: version?.rows[0]?.version ?? null,
          bytes: Number(size.rows[0]?.bytes ?? 0),
        };
      }),
    async migrate(codeRoot, say, signal) {
      const common = { codeRoot, node: pinnedNode(codeRoot), env: parts.env(), say, signal };
      await runReleaseStep({
        ...common,
        script: RELEASE_SCRIPTS.migrate,
        what: "The migration",
        code: "migrate.failed",
        next: "Nothing was changed by it. Correct the migration and build the release again.",
      });
      await prepare(codeRoot, say, signal);
    },
    prepare,
    async copy(name, say, signal) {
      const path = join(copiesIn(), name);
      if (!managed) {
        await dumpDatabase({ url: parts.url(), file: dumpFile(path), bin: await programs(), signal });
        await writeDumpRecord(path, isoTime(parts.clock.now()));
        return path;
      }
      if (await readCopy(path)) return path;
      const { data } = managed.place();
      const at = isoTime(parts.clock.now());
      await whileStopped(managed, () => copyDataDirectory({ data, target: path, at, say, signal }), say, signal);
      return path;
    },
    async restore(path, codeRoot, say, signal) {
      if (!managed) await restoreDump({ url: parts.url(), file: dumpFile(path), bin: await programs(), signal });
      else {
        const { data } = managed.place();
        parts.rewound?.();
        await whileStopped(managed, () => restoreDataDirectory({ data, target: path, say, signal }), say, signal);
      }
      await runReleaseStep({
        codeRoot,
        node: pinnedNode(codeRoot),
        script: RELEASE_SCRIPTS.prepare,
        // Its jobs may have been run since the copy: they are ended or requeued by their kind's rule first.
        env: { ...parts.env(), OWL_RESTORED: "1" },
        what: "Ending the jobs of the restored database",
        code: "restore.jobs",
        next: "Nothing was started. Run owld again: it goes on from here.",
        say,
        signal,
      });
    },
    async keepCopies(paths) {
      for (const name of await readdir(copiesIn()).catch(() => [] as string[]))
        if (!paths.includes(join(copiesIn(), name))) await rm(join(copiesIn(), name), { recursive: true, force: true });
    },
    newerJobs: (formats) =>
      ask(async (client) => {
        let count = 0;
        for (const kind of JOB_KINDS) {
          const table = `owl.${JOB_TABLES[kind]}`;
          const there = await client.query(
            "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'format' AND NOT attisdropped",
            [table],
          );
          if (there.rowCount === 0) continue;
          const { rows } = await client.query<{ n: number }>(
            `SELECT count(*)::int AS n FROM ${table} WHERE state = 'queued' AND format > $1`,
            [formats[kind]?.format ?? 0],
          );
          count += rows[0]?.n ?? 0;
        }
        return count;
      }),
    async writesSince(path) {
      const at = await copyAt(path);
      return await ask(async (client) => {
        const there = await client.query<{ name: string }>(
          "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'owl' AND c.relname = ANY($1)",
          [WRITES],
        );
        if (there.rows.length === 0) return { count: 0, firstAt: null, lastAt: null };
        const union = there.rows.map(({ name }) => `SELECT ${stamp(name)} AS at FROM owl.${name}`).join(" UNION ALL ");
        const { rows } = await client.query<{ count: number; first: Date | null; last: Date | null }>(
          `SELECT count(*)::int AS count, min(at) AS first, max(at) AS last FROM (${union}) w WHERE at > $1`,
          [at],
        );
        const [row] = rows;
        return {
          count: row?.count ?? 0,
          firstAt: row?.first?.toISOString() ?? null,
          lastAt: row?.last?.toISOString() ?? null,
        };
      });
    },
  };
}

/** The column that tells when a row of that table was written. */
function stamp(table: string): string {
  return table === "audit" ? "at" : "created_at";
}

interface DumpRecord {
  readonly at: string;
}

async function readDumpRecord(path: string): Promise<DumpRecord | null> {
  const text = await readFile(join(path, "copy.json"), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as DumpRecord);
}

async function writeDumpRecord(path: string, at: string): Promise<void> {
  await writeFile(join(path, "copy.json"), `${JSON.stringify({ at })}\n`, { mode: 0o600, flush: true });
}
