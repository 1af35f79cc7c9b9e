// The product's processes as the machine shows them (/proc), not as the product tells. Only those of one home: whatever
// is signalled here was found by that home's path.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Found {
  readonly pid: number;
  readonly kind: "supervisor" | "proxy" | "web" | "worker" | "postmaster" | "other";
  /** OWL_INSTANCE of its environment. */
  readonly instance: string | null;
  readonly command: string;
  /** State letter of /proc: T is frozen, Z is over. */
  readonly state: string;
}

/** Every living process whose environment or command line names `home`. */
export function processesOf(home: string): readonly Found[] {
  const found: Found[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    if (command === "") continue;
    const environment = read(`/proc/${pid}/environ`);
    if (!command.includes(`${home}/`) && !environment.includes(home)) continue;
    const state = stateOf(pid);
    if (state === null || state === "Z") continue;
    const instance = /(?:^|\0)OWL_INSTANCE=([^\0]*)/.exec(environment)?.[1] ?? null;
    found.push({ pid, kind: kindOf(command), instance, command: command.slice(0, 160), state });
  }
  return found;
}

function kindOf(command: string): Found["kind"] {
  if (command.includes("supervisor/proxy/main.ts")) return "proxy";
  if (command.includes("supervisor/main.ts")) return "supervisor";
  if (command.includes("services/web/main.ts")) return "web";
  if (command.includes("services/worker/main.ts")) return "worker";
  if (/bin\/postgres -D/.test(command)) return "postmaster";
  return "other";
}

/** Children of the postmaster that serve a client (`postgres: owl: owl owl [local] …`). */
export function backendsOf(home: string): readonly number[] {
  return databasePids(home).filter((pid) => /\[local\]/.test(read(`/proc/${pid}/cmdline`)));
}

/** The postmaster and all of its children; empty when there is none. */
export function databasePids(home: string): readonly number[] {
  const postmaster = processesOf(home).find((one) => one.kind === "postmaster");
  if (postmaster === undefined) return [];
  const children = readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .filter((pid) => {
      const stat = read(`/proc/${pid}/stat`);
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === postmaster.pid;
    });
  return [postmaster.pid, ...children];
}

/** The running postmaster's pid by its own file; null when there is none. */
export function postmasterPid(home: string): number | null {
  const pid = Number(read(join(home, "postgres/data/postmaster.pid")).split("\n")[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

export function isAlive(pid: number): boolean {
  const state = stateOf(pid);
  return state !== null && state !== "Z";
}

/** Sends it to exactly this process; false when it is gone. */
export function signalPid(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function stateOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  return stat === "" ? null : (stat.slice(stat.lastIndexOf(")") + 2)[0] ?? null);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
