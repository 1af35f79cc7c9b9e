// How a proxy process comes to be: spawned on listeners that owld has, or started by one that runs, on its listeners
// and with its table; after a kill -9 of owld only the proxies have them.
// Invariant: a successor serves beside the one that started it until the loop sends that one away.

import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProxyConfig } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import { addressName, listenAddresses, type ProxySettings } from "../../config/proxy-feed.ts";
import { PROXY } from "../core/instance.ts";
import { exitFifo } from "../instances/launch.ts";
import type { ProcessTable, RunningProcess, Spawner } from "../ports.ts";
import { compileOnce } from "../process/compiled-code.ts";
import { logPath } from "../process/log-text.ts";
import type { ProxyClient } from "./client.ts";
import type { Listeners } from "./listeners.ts";
import type { Spare } from "./spare.ts";

/** Of a last line that is no line of its own, as much as a sentence can take. */
const WORDS = 300;
/** A small young generation: what a request leaves behind is dead at once and stays within the processor's caches. */
export const PROXY_NODE_OPTIONS = ["--max-semi-space-size=1"] as const;

export interface ProxyLaunchParts {
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly paths: HomePaths;
  /** Where sockets go: `paths.run`, or a short directory where its path leaves no room for their names. */
  readonly socketDirectory: string;
  /** OWL_MARK of this home. */
  readonly mark: string;
  readonly release: string;
  /** PATH, HOME, LANG, ... as every instance gets them. */
  readonly env: Readonly<Record<string, string>>;
  /** The proxy's program; absent: `node supervisor/proxy/main.ts` of this release. */
  readonly command?: readonly [string, ...string[]];
}

/** Hash of all that shapes a proxy process: one with another is replaced. */
export function proxyHash(proxy: ProxyConfig): string {
  const { processes: _, metrics: __, ...shape } = withoutOrders(proxy);
  return createHash("sha256").update(JSON.stringify(shape)).digest("hex").slice(0, 16);
}

/** Whom a certificate is ordered from is owld's business alone. */
function withoutOrders(proxy: ProxyConfig): ProxyConfig {
  return proxy.tls === null ? proxy : { ...proxy, tls: { ...proxy.tls, acme: null } };
}

export function feedSocket({ socketDirectory }: Pick<ProxyLaunchParts, "socketDirectory">, id: string): string {
  return join(socketDirectory, `${id}.sock`);
}

interface ProxyLaunch {
  readonly id: string;
  readonly proxy: ProxyConfig;
  /** Clients wait in the backlog until it knows where to. */
  readonly awaitsTable: boolean;
}

/** Starts a proxy. `donors`: those that serve and can be reached. Rejects with the reason. */
export async function launchProxy(
  parts: ProxyLaunchParts,
  launch: ProxyLaunch,
  listeners: Listeners,
  donors: readonly ProxyClient[],
  spare: Spare,
): Promise<RunningProcess> {
  const { id, proxy } = launch;
  await compile(parts, proxy);
  const claimed = await listeners.claim(proxy);
  if ("descriptors" in claimed) return await spawnProxy(parts, launch, claimed.descriptors);
  const wanted = listenAddresses(proxy).map(addressName);
  const donor = donors.find((one) => mayGive(one, claimed.taken.addresses, wanted));
  if (donor === undefined) {
    const running = await becomeProxy(parts, launch, spare);
    if (running === null) throw claimed.taken.error;
    return running;
  }
  // What the donor has not got, its successor binds.
  await listeners.closeBut(null);
  return await succeed(parts, id, proxy, donor);
}

/** Has it got those listeners? One of an older release hands on all it has, or nothing. */
function mayGive(donor: ProxyClient, taken: readonly string[], wanted: readonly string[]): boolean {
  const hello = donor.hello();
  if (hello === null) return false;
  if (hello.addresses === undefined) return wanted.join(" ") === hello.listening.join(" ");
  return taken.every((name) => hello.addresses?.includes(name));
}

function commandOf({ command }: ProxyLaunchParts): readonly [string, ...string[]] {
  const program = fileURLToPath(new URL("../proxy/main.ts", import.meta.url));
  return command ?? [process.execPath, ...PROXY_NODE_OPTIONS, program];
}

function settingsFor(parts: ProxyLaunchParts, id: string, proxy: ProxyConfig): ProxySettings {
  return { id, feedSocket: feedSocket(parts, id), home: parts.paths.home, proxy: withoutOrders(proxy) };
}

const cacheOf = ({ paths }: ProxyLaunchParts): string => join(paths.home, "cache", "node");

/** So that the process about to start finds its code compiled. */
async function compile(parts: ProxyLaunchParts, proxy: ProxyConfig): Promise<void> {
  if (parts.command !== undefined) return;
  const settings = JSON.stringify(settingsFor(parts, PROXY, proxy));
  await compileOnce({
    argv: commandOf(parts),
    env: { ...parts.env, OWL_PROXY_SETTINGS: settings, OWL_PROXY_LOAD_ONLY: "1" },
    cwd: parts.paths.home,
    directory: cacheOf(parts),
    key: `${parts.release} ${proxy.tls === null ? "http" : "https"}`,
  });
}

/** How one is run whose listeners are its descriptors from 4 on; 3 is the exit FIFO. */
function runsAs(parts: ProxyLaunchParts, { id, proxy, awaitsTable }: ProxyLaunch) {
  const env: Readonly<Record<string, string>> = {
    ...parts.env,
    NODE_COMPILE_CACHE: cacheOf(parts),
    [INSTANCE_ENV.mark]: parts.mark,
    [INSTANCE_ENV.instance]: id,
    [INSTANCE_ENV.service]: PROXY,
    [INSTANCE_ENV.release]: parts.release,
    OWL_PROXY_SETTINGS: JSON.stringify(settingsFor(parts, id, proxy)),
    OWL_PROXY_LISTEN_FDS: listenAddresses(proxy)
      .map((_, index) => index + 4)
      .join(","),
    ...(awaitsTable ? { OWL_PROXY_AWAIT_TABLE: "1" } : {}),
  };
  rmSync(feedSocket(parts, id), { force: true });
  return { argv: commandOf(parts), cwd: parts.paths.home, env, logFile: logPath(parts.paths.logs, id) };
}

function spawnProxy(
  parts: ProxyLaunchParts,
  launch: ProxyLaunch,
  descriptors: readonly number[],
): Promise<RunningProcess> {
  const { id } = launch;
  return parts.spawner.spawn({
    ...runsAs(parts, launch),
    instance: id,
    service: PROXY,
    user: null,
    umask: 0o077,
    exitFifo: exitFifo(parts.paths, id),
    descriptors,
  });
}

async function becomeProxy(parts: ProxyLaunchParts, launch: ProxyLaunch, spare: Spare): Promise<RunningProcess | null> {
  const identity = await spare.become(namesOf(launch.proxy), runsAs(parts, launch));
  return identity === null ? null : parts.spawner.adopt(identity, exitFifo(parts.paths, launch.id));
}

/** All its addresses, in the order of its descriptors. */
export function namesOf(proxy: ProxyConfig): string {
  return listenAddresses(proxy).map(addressName).join(" ");
}

async function succeed(
  parts: ProxyLaunchParts,
  id: string,
  proxy: ProxyConfig,
  donor: ProxyClient,
): Promise<RunningProcess> {
  const adopt = (identity: ReturnType<ProcessTable["identify"]>): RunningProcess | null =>
    identity === null ? null : parts.spawner.adopt(identity, exitFifo(parts.paths, id));
  try {
    const settings = settingsFor(parts, id, proxy);
    const pid = await donor.succeed({ settings, command: commandOf(parts), stay: true });
    const running = adopt(parts.table.identify(pid));
    if (running !== null) return running;
  } catch (error) {
    // The donor may have ended before it could tell of the one it had started.
    const found = parts.table.marked(parts.mark).find(({ instance, leader }) => instance === id && leader);
    const running = adopt(found?.identity ?? null);
    if (running === null) throw error;
    return running;
  }
  throw new OwlError("proxy.successorFailed", `${id} ended right after it had started.`);
}

/** Why a proxy ended before it was ready, in its own last words: a line of its own (proxy/log.ts), or Node's. */
export function endedEarly(id: string, file: string): OwlError {
  const { error, next } = lastWords(file);
  return new OwlError("proxy.failed", `${id} ended before it listened${error === "" ? "." : `: ${error}`}`, {
    next: `${next}${next === "" ? "" : " "}Its log: ${file}`,
    data: { proxy: id },
  });
}

function lastWords(file: string): { readonly error: string; readonly next: string } {
  let line = "";
  try {
    line = readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const { error, message, next } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return { error: String(error ?? message ?? line), next: typeof next === "string" ? next : "" };
  } catch {
    return { error: line.slice(0, WORDS), next: "" };
  }
}
