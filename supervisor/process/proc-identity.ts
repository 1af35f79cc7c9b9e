// Reads /proc: who a process is, who belongs to its group, who carries our mark. Reads only.
// Invariant: an identity is pid + start ticks + boot id, compared whole; a zombie counts as gone.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import type { ProcessIdentity } from "../ports.ts";

/** What /proc/PID/stat tells (the fields we need). Ticks are 1/100 s on Linux, see usage.ts. */
export interface ProcStat {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly userTicks: number;
  readonly systemTicks: number;
  readonly startTicks: string;
  readonly rssPages: number;
}

/** Parses the text of /proc/PID/stat; null when it is none. The name in brackets may hold anything, `) ` too. */
export function parseStat(text: string): ProcStat | null {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return null;
  const rest = text.slice(close + 2).split(" ");
  const startTicks = rest[19];
  if (startTicks === undefined) return null;
  return {
    pid: Number(text.slice(0, open)),
    state: rest[0] ?? "?",
    parent: Number(rest[1]),
    group: Number(rest[2]),
    session: Number(rest[3]),
    userTicks: Number(rest[11]),
    systemTicks: Number(rest[12]),
    startTicks,
    rssPages: Number(rest[21]),
  };
}

/** True for a process that has ended and only waits to be reaped. */
export function isGone(stat: ProcStat): boolean {
  return stat.state === "Z" || stat.state === "X" || stat.state === "x";
}

export interface ProcReader {
  readonly bootId: string;
  /** The stat of `pid` now, zombies included; null when there is no such process. */
  stat(pid: number): ProcStat | null;
  /** Every process number there is now. */
  pids(): number[];
  /** Environment of a process; null when it may not be read or is gone. */
  environment(pid: number): ReadonlyMap<string, string> | null;
  /** Command line, arguments joined by blanks; the kernel's short name when it has none. */
  command(pid: number): string;
}

/** A reader of this machine's /proc (`root` for tests). Throws when there is no boot id: then it is no Linux. */
export function createProcReader(root = "/proc"): ProcReader {
  const bootId = readFileSync(join(root, "sys/kernel/random/boot_id"), "utf8").trim();
  const read = (pid: number, file: string): string | null => {
    try {
      return readFileSync(`${root}/${pid}/${file}`, "utf8");
    } catch {
      // ENOENT and ESRCH: gone meanwhile. EACCES: another user's, nothing we may know.
      return null;
    }
  };
  return {
    bootId,
    stat(pid) {
      const text = read(pid, "stat");
      return text === null ? null : parseStat(text);
    },
    pids() {
      return readdirSync(root)
        .filter((name) => name.charCodeAt(0) <= 0x39 && /^\d+$/.test(name))
        .map(Number);
    },
    environment(pid) {
      const text = read(pid, "environ");
      return text === null ? null : parseEnvironment(text);
    },
    command(pid) {
      const line = read(pid, "cmdline")?.replace(/\0+$/, "").replaceAll("\0", " ");
      return line || read(pid, "comm")?.trim() || "?";
    },
  };
}

function parseEnvironment(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const entry of text.split("\0")) {
    const equals = entry.indexOf("=");
    if (equals > 0) variables.set(entry.slice(0, equals), entry.slice(equals + 1));
  }
  return variables;
}

/** The identity of a stat read just now. */
export function identityOf(reader: ProcReader, stat: ProcStat): ProcessIdentity {
  return { pid: stat.pid, startTicks: stat.startTicks, bootId: reader.bootId };
}

/** True when `stat` (zombie or not) is the very process the identity names. */
export function isSame(reader: ProcReader, stat: ProcStat, identity: ProcessIdentity): boolean {
  return stat.pid === identity.pid && stat.startTicks === identity.startTicks && reader.bootId === identity.bootId;
}

/** Does this process carry Owl's variables? `unknown`: its environment is unreadable, empty or overwritten. */
export function ownership(reader: ProcReader, pid: number): "ours" | "foreign" | "unknown" {
  const variables = reader.environment(pid);
  if (variables === null || variables.size === 0) return "unknown";
  if (variables.has(INSTANCE_ENV.mark) || variables.has(INSTANCE_ENV.instance)) return "ours";
  // Programs that rewrite their title overwrite this memory: only a sane environment proves a stranger.
  return variables.has("PATH") || variables.has("HOME") ? "foreign" : "unknown";
}
