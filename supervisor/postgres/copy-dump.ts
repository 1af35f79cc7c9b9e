// The copy of a team's own PostgreSQL by pg_dump: our schemas only, read back before it counts.
// Invariant: the dump lies at its final name only when pg_restore could list all of it.

import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { OwlError } from "../../config/errors.ts";
import { syncDirectory, syncTree } from "../release/sync.ts";
import { lastLines, runProgram } from "./program.ts";

const SCHEMAS = ["owl", "pgboss"];

interface DumpRequest {
  readonly url: string;
  readonly file: string;
  /** Directory of pg_dump, pg_restore and psql, or null: PATH's. */
  readonly bin: string | null;
  readonly signal: AbortSignal;
}

/** Dumps into `file` and reads it back; answers its bytes. Throws `copy.failed`; then no file is there. */
export async function dumpDatabase(request: DumpRequest): Promise<number> {
  const { file, signal } = request;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.partial`;
  // A pg_dump that outlived an owld killed in its middle goes on writing into a file without a name.
  await rm(partial, { force: true });
  const { args, cleanUp } = await dumpConnection(request);
  try {
    const dumped = await runProgram(
      program(request, "pg_dump"),
      ["--format=custom", "--no-owner", ...SCHEMAS.map((schema) => `--schema=${schema}`), `--file=${partial}`, ...args],
      { signal },
    );
    if (!dumped.ok) throw failed(`pg_dump said: ${lastLines(dumped.output)}`);
    const listed = await runProgram(program(request, "pg_restore"), ["--file=/dev/null", partial], { signal });
    if (!listed.ok) throw failed(`the dump cannot be read back: ${lastLines(listed.output)}`);
    await syncTree(partial);
    await rename(partial, file);
    syncDirectory(dirname(file));
    return (await stat(file)).size;
  } finally {
    await rm(partial, { force: true });
    await cleanUp();
  }
}

/**
 * Replaces our schemas by those of the dump: dropping and reading back are one transaction, so that a dump that turns
 * out unreadable in its middle changes nothing. Throws `copy.unreadable`.
 */
export async function restoreDump(request: DumpRequest): Promise<void> {
  const { file, signal } = request;
  const script = `${file}.sql`;
  const { args, cleanUp } = await dumpConnection(request);
  try {
    const readable = await runProgram(
      program(request, "pg_restore"),
      ["--no-owner", "--exit-on-error", `--file=${script}`, file],
      { signal },
    );
    if (!readable.ok) throw unreadable(lastLines(readable.output));
    const drop = `DROP SCHEMA IF EXISTS ${SCHEMAS.join(", ")} CASCADE`;
    const restored = await runProgram(
      program(request, "psql"),
      [
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--single-transaction",
        ...args,
        `--command=${drop}`,
        `--file=${script}`,
      ],
      { signal },
    );
    if (!restored.ok) throw unreadable(lastLines(restored.output));
  } finally {
    await rm(script, { force: true });
    await cleanUp();
  }
}

/** The password goes through a pgpass file of mode 0600, never through argv. */
export async function dumpConnection(
  request: Pick<DumpRequest, "url" | "file">,
): Promise<{ args: string[]; cleanUp: () => Promise<void> }> {
  // libpq's URLs (`postgres://owl:…@/owl?host=/run`) are none by the web's rules, so they are taken apart by hand.
  const [, head = "", secret = "", rest = ""] = /^(\w+:\/\/[^:@/?#]*)(?::([^@/?#]*))?(.*)$/s.exec(request.url) ?? [];
  const pass = `${request.file}.pgpass`;
  const password = decodeURIComponent(secret).replace(/([\\:])/g, "\\$1");
  await writeFile(pass, `*:*:*:*:${password}\n`, { mode: 0o600 });
  const url = `${head}${rest}${rest.includes("?") ? "&" : "?"}passfile=${encodeURIComponent(pass)}`;
  return { args: [`--dbname=${url}`], cleanUp: () => rm(pass, { force: true }) };
}

function program(request: DumpRequest, name: string): string {
  return request.bin === null ? name : `${request.bin}/${name}`;
}

function failed(what: string): OwlError {
  return new OwlError("copy.failed", `The copy of the database failed: ${what}.`, {
    next: "Nothing was migrated. `owlctl preflight` checks pg_dump and its version.",
  });
}

function unreadable(what: string): OwlError {
  return new OwlError("copy.unreadable", `The dump cannot be read back: ${what}.`, {
    next: "The database was left as it is. Restore a backup of your own, or go on with the new release.",
  });
}
