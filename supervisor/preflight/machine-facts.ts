// What preflight reads of the machine: free space, memory, limits, directories, clock, the systemd unit. Reads only.

import { lstat, readFile, stat, statfs } from "node:fs/promises";

import { join } from "node:path";
import { execa } from "execa";
import type { Config } from "../../config/config.ts";
import { homePaths } from "../../config/home.ts";
import { stopChain } from "../../config/relations.ts";
import type { WallMs } from "../../config/time.ts";
import type { PreflightFacts } from "../core/preflight.ts";
import { readAccounts } from "../postgres/account.ts";

const MIB = 2 ** 20;
/** What a release with its packages and runtime takes. */
const RELEASE_BYTES = 700 * MIB;
const LOG_BYTES = 500 * MIB;

/** Free space where releases, a database's copy, and logs go. `databaseBytes` null: no copy is ever made. */
export async function diskFacts(config: Config, databaseBytes: number | null): Promise<PreflightFacts["disk"]> {
  const paths = homePaths(config.home);
  const freeBytes = await freeSpace(paths.home);
  return [
    { use: "release", path: paths.releases, freeBytes, neededBytes: RELEASE_BYTES },
    ...(databaseBytes === null
      ? []
      : [{ use: "dump" as const, path: paths.home, freeBytes, neededBytes: Math.ceil(databaseBytes * 1.2) }]),
    { use: "logs", path: paths.logs, freeBytes, neededBytes: LOG_BYTES },
  ];
}

async function freeSpace(path: string): Promise<number | null> {
  const found = await statfs(path).catch(() => null);
  return found && found.bavail * found.bsize;
}

/** Memory a new process may get, in bytes; null when /proc does not say. */
export async function availableMemory(): Promise<number | null> {
  const kib = /^MemAvailable:\s*(\d+) kB$/m.exec(await readText("/proc/meminfo"))?.[1];
  return kib === undefined ? null : Number(kib) * 1_024;
}

/** The hard limit (Node raises the soft one to it), and what full proxies need: two sockets a connection. */
export async function descriptorFacts(config: Config): Promise<PreflightFacts["descriptors"]> {
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(await readText("/proc/self/limits"))?.[1];
  const limit = hard === undefined ? null : hard === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(hard);
  return { limit, needed: config.proxy.limits.connections * 2 + 256 };
}

/** Owner and mode of the home and what must be closed in it. */
export async function directoryFacts(config: Config): Promise<PreflightFacts["directories"]> {
  const paths = homePaths(config.home);
  const accounts = await readAccounts().catch(() => []);
  const own = process.geteuid?.() ?? 0;
  const closed = [paths.state, paths.logs, paths.controlSocket];
  return Promise.all(
    [paths.home, paths.run, ...closed].map(async (path) => {
      const found = await (path === paths.run ? stat(path) : lstat(path)).catch(() => null);
      if (!found) return { path, mode: null, owner: null, ours: false, closed: false };
      const owner = accounts.find((account) => account.uid === found.uid)?.name ?? `uid ${found.uid}`;
      // The control socket's group may use it: its mode is judged by what others may.
      const mode = path === paths.controlSocket ? found.mode & 0o707 : found.mode & 0o7777;
      return { path, mode, owner, ours: found.uid === own, closed: closed.includes(path) };
    }),
  );
}

/** The clock against the newest file of this installation: one set back to 1970 is seen. */
export async function clockFacts(config: Config, codeRoot: string, now: WallMs): Promise<PreflightFacts["clock"]> {
  const files = [join(codeRoot, "package.json"), homePaths(config.home).stateFile];
  const times = await Promise.all(
    files.map((file) =>
      stat(file)
        .then((found) => found.mtimeMs)
        .catch(() => 0),
    ),
  );
  const newest = Math.max(0, ...times);
  return {
    nowIso: new Date(now).toISOString(),
    newestFileIso: newest === 0 ? null : new Date(newest).toISOString(),
    behindMs: Math.max(0, newest - now),
  };
}

/** TimeoutStopSec of the unit we run in; null when systemd did not start us. */
export async function unitFacts(config: Config): Promise<PreflightFacts["unit"]> {
  const name = /\/([^/]+\.service)(?:\/owld)?$/m.exec(await readText("/proc/self/cgroup"))?.[1];
  if (name === undefined || !name.startsWith("owl")) return null;
  const { stdout, failed } = await execa("systemctl", ["show", name, "-p", "TimeoutStopUSec", "--value"], {
    reject: false,
    timeout: 2_000,
  });
  const timeoutStopMs = failed ? null : parseSystemdTime(String(stdout).trim());
  return { name, timeoutStopMs, neededMs: stopChain(config).totalMs };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** `7min`, `1h 30min`, `infinity` as systemctl prints them, in ms; null when it is none. */
export function parseSystemdTime(text: string): number | null {
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  let total = 0;
  for (const part of text.split(/\s+/)) {
    const match = /^(\d+(?:\.\d+)?)(ms|s|min|h|d)$/.exec(part);
    if (!match) return null;
    total += Number(match[1]) * (UNITS[match[2] ?? ""] ?? 0);
  }
  return total;
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
