// Makes a data directory: initdb into a directory of its own, renamed to `data` when complete.
// Invariant: `data` is there whole or not at all, whenever the making was killed.

import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OwlError } from "../../config/errors.ts";
import { syncDirectory } from "../release/sync.ts";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { lastLines, runProgram } from "./program.ts";

interface ClusterWanted {
  readonly binaries: Binaries;
  /** The directory `data` goes into; ours, not the account's. */
  readonly dir: string;
  readonly account: Account | null;
  readonly admin: { readonly name: string; readonly password: string };
  /** Names this attempt's directory; another one for each attempt. */
  readonly attempt: string;
  readonly signal: AbortSignal;
}

/** Major version of the data directory, or null when there is none. Throws `postgres.data` for something else there. */
export async function dataMajor(data: string): Promise<number | null> {
  const version = await readFile(join(data, "PG_VERSION"), "utf8").catch(() => null);
  if (version !== null && /^\d+\s*$/.test(version)) return Number(version);
  const entries = await readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new OwlError("postgres.data", `${data} cannot be read: ${error.message}.`);
  });
  if (entries.length === 0) return null;
  throw new OwlError("postgres.data", `${data} is not empty and no PostgreSQL data directory.`, {
    next: "Move it away, or set OWL_HOME to another directory.",
  });
}

/** Runs initdb (UTF-8, checksums, scram). Throws `postgres.initdb` with initdb's last lines. */
export async function createCluster(wanted: ClusterWanted): Promise<void> {
  const { dir, account, admin, binaries } = wanted;
  for (const left of (await readdir(dir)).filter((name) => name.startsWith("data.new-"))) {
    await rm(join(dir, left), { recursive: true, force: true });
  }
  const fresh = join(dir, `data.new-${wanted.attempt}`);
  await mkdir(fresh, { mode: 0o700 });
  try {
    const passwordFile = join(fresh, "password");
    await writeFile(passwordFile, `${admin.password}\n`, { mode: 0o600 });
    if (account) {
      await chown(passwordFile, account.uid, account.gid);
      await chown(fresh, account.uid, account.gid);
    }
    await initialize(wanted, join(fresh, "data"), passwordFile);
    await rm(join(dir, "data"), { recursive: true, force: true });
    await rename(join(fresh, "data"), join(dir, "data"));
    await chmod(join(dir, "data"), 0o700);
    syncDirectory(dir);
  } catch (error) {
    throw error instanceof OwlError
      ? error
      : new OwlError("postgres.initdb", `The database could not be created in ${dir}: ${(error as Error).message}.`, {
          cause: error,
        });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }

  async function initialize({ signal }: ClusterWanted, data: string, passwordFile: string): Promise<void> {
    const common = [
      `--pgdata=${data}`,
      `--username=${admin.name}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--data-checksums",
    ];
    // C.UTF-8 knows every letter's case; a C library without it gets plain C, which sorts the same.
    const choices =
      binaries.major >= 17
        ? [["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]]
        : [["--locale=C.UTF-8"], ["--locale=C"]];
    let output = "";
    for (const locale of choices) {
      await rm(data, { recursive: true, force: true });
      const result = await runProgram(join(binaries.dir, "initdb"), [...common, ...locale], { account, signal });
      if (result.ok) return;
      signal.throwIfAborted();
      output = result.output;
    }
    if (/No space left on device/.test(output))
      throw new OwlError("postgres.initdb", `The disk of ${dir} is full: the database could not be created.`, {
        next: "Free some space there (a new database takes about 60 MiB), then start Owl again.",
      });
    throw new OwlError("postgres.initdb", `initdb failed: ${lastLines(output)}.`, {
      next: `Look at the free space and the owner of ${dir}.`,
    });
  }
}
