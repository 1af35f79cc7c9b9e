// What a test sees of a running Owl from outside, past owld: its state file, processes and database.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { UpdateCourse } from "../../supervisor/core/update-course.ts";
import { markOf } from "../../supervisor/instances/launch.ts";
import type { MarkedProcess } from "../../supervisor/ports.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";

const table = createProcessTable();

/** The update on record in the state file, or null. */
export function courseOf(home: string): UpdateCourse | null {
  const file = new DatabaseSync(join(home, "state/owl.sqlite"), { readOnly: true });
  try {
    const row = file.prepare("SELECT doc FROM fact WHERE name = 'update'").get();
    return row === undefined ? null : (JSON.parse(String(row.doc)) as UpdateCourse);
  } finally {
    file.close();
  }
}

/** Processes that carry this home's mark: instances and proxies. */
export function markedOf(home: string): readonly MarkedProcess[] {
  return table.marked(markOf(home));
}

/** Pids of the managed database's servers, not of their children: never more than one. */
export function postmastersOf(home: string): readonly number[] {
  return postmastersOn(join(home, "postgres/data"));
}

/** Rows of one statement in the managed database, as the application's own role. */
export function askManaged(home: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  return ask(managedUrl(home), sql);
}

function postmastersOn(data: string): readonly number[] {
  const servers = readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid)) return [];
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== data || !/\/postgres/.test(readlinkSync(`/proc/${pid}/exe`))) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" ? [] : [{ pid, parent: Number(parent) }];
    } catch {
      // Gone meanwhile.
      return [];
    }
  });
  return servers.filter(({ parent }) => !servers.some(({ pid }) => pid === parent)).map(({ pid }) => pid);
}

function managedUrl(home: string): string {
  const password = readFileSync(join(home, "postgres/owl-password"), "utf8").trim();
  const conf = readFileSync(join(home, "postgres/conf/postgresql.conf"), "utf8");
  const socket = /^unix_socket_directories = '(.*)'$/m.exec(conf)?.[1] ?? "";
  return `postgres://owl:${encodeURIComponent(password)}@/owl?host=${encodeURIComponent(socket)}`;
}

/** Rows of one statement. */
export async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
