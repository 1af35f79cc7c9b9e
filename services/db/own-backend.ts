// The server process behind a connection, where it is one of this machine: its statements run behind everybody's
// questions, and memory past a bound is refused to them ("out of memory"), which PostgreSQL itself cannot.
// Invariant: nothing is touched whose own title does not name this connection's role and database: when the server runs
// elsewhere, the same number is another process here.

import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import type pg from "pg";
import { lowerPriority } from "../lower-priority.ts";

const BEHIND_US = 15;
/** Private memory alone; what the server shares is not counted. */
const MEMORY_BYTES = 512 * 2 ** 20;
const run = promisify(execFile);

async function ownPid(client: pg.ClientBase): Promise<number | null> {
  const { processID: pid, user, database } = client as pg.Client & { readonly processID: number };
  const title = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return title.startsWith("postgres: ") && title.includes(` ${user} ${database} `) ? pid : null;
}

/** Lowers its priority; null where it is not of this machine. */
export async function lowerBackend(client: pg.ClientBase): Promise<number | null> {
  const pid = await ownPid(client);
  if (pid !== null) lowerPriority(pid, BEHIND_US);
  return pid;
}

/** Its memory too. Where it is another user's that we may not act for, or without `prlimit`, the server's bounds hold alone. */
export async function boundBackend(client: pg.ClientBase): Promise<void> {
  const pid = await lowerBackend(client);
  if (pid === null) return;
  try {
    const { uid, gid } = await stat(`/proc/${pid}`);
    await run("prlimit", ["--pid", String(pid), `--data=${MEMORY_BYTES}`], { timeout: 5_000, uid, gid });
  } catch {
    // As said above.
  }
}
