// One proxy process: how it is started, adopted or started by its predecessor, and what its feed says of it.
// Invariant: from the moment it may serve until it is gone there is exactly one member for it, and one record.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProxyConfig } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import type { ProxySettings, RoutingTable } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";
import type { ProcessTable, ProxyRecord, ProxyRecords, RunningProcess, Spawner } from "../ports.ts";
import { compileOnce } from "../process/compiled-code.ts";
import { createProxyClient, type ProxyClient } from "./client.ts";

/** Of a last line that is no line of its own, as much as a sentence can take. */
const WORDS = 300;

/** Name of the proxies' own entry in OWL_SERVICE; a team's service cannot be called so. */
export const PROXY_SERVICE = "proxy";

/** A small young generation: what a request leaves behind is dead at once and stays within the processor's caches. */
export const PROXY_NODE_OPTIONS = ["--max-semi-space-size=1"] as const;

export interface ProxyMember {
  readonly id: string;
  readonly record: ProxyRecord;
  readonly running: RunningProcess;
  readonly client: ProxyClient;
  /** It spoke to us once, or was adopted: it may be routing by some table. */
  mayRoute: boolean;
  draining: boolean;
  /** Given up as hung or unreachable: a successor takes its place, it has until it is killed. */
  lost: boolean;
  /** Ticks without a sign of life. */
  silentTicks: number;
  countersAtTick: number;
  /** The successor it was asked to start and has not told of yet. */
  heir: string | null;
}

export interface MemberParts {
  readonly clock: Clock;
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly records: ProxyRecords;
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
  /** The state file refused a write (disk full): the process runs on unrecorded, its mark is enough to adopt it. */
  readonly unrecorded: (error: Error) => void;
}

/** What the set wants to hear from a member. */
interface MemberHooks {
  readonly currentTable: () => RoutingTable | null;
  readonly changed: (member: ProxyMember) => void;
}

interface MemberFactory {
  /** A new process on these descriptors (in order of `proxy.listen`); recorded when it resolves. */
  spawn(proxy: ProxyConfig, descriptors: readonly number[]): Promise<ProxyMember>;
  /** A new process started by `old`, on its descriptors and with its table. `stay`: `old` serves on, else it drains. */
  succeed(old: ProxyMember, proxy: ProxyConfig, stay: boolean): Promise<ProxyMember>;
  /** A process of an earlier owld; null when it is gone (its record then too). */
  adopt(record: ProxyRecord): ProxyMember | null;
  /** Living proxies of this home that are none of `members`, known by their mark alone. */
  strays(members: Iterable<ProxyMember>): readonly ProxyRecord[];
  /** Notes that it drains. */
  noteDraining(member: ProxyMember): void;
  /** Forgets a member that is gone, and what lies around of it. */
  forget(member: ProxyMember): void;
}

export function createMemberFactory(parts: MemberParts, hooks: MemberHooks): MemberFactory {
  const { paths } = parts;
  const records = tolerantRecords(parts.records, parts.unrecorded);
  const program = fileURLToPath(new URL("../proxy/main.ts", import.meta.url));
  const own = [process.execPath, ...PROXY_NODE_OPTIONS, program] as const;
  const command = parts.command ?? own;
  const compiled = join(paths.home, "cache", "node");
  const feedSocket = (id: string): string => join(parts.socketDirectory, `${id}.sock`);
  const exitFifo = (id: string): string => join(paths.run, `${id}.fifo`);

  const member = (record: ProxyRecord, running: RunningProcess, mayRoute: boolean): ProxyMember => {
    const client = createProxyClient({
      clock: parts.clock,
      feedSocket: feedSocket(record.id),
      currentTable: hooks.currentTable,
      changed() {
        if (client.hello() !== null) made.mayRoute = true;
        hooks.changed(made);
      },
      // A process that is no child of ours tells its end only by this and by a slow poll.
      broke: () => running.look?.(),
    });
    const made: ProxyMember = {
      id: record.id,
      record,
      running,
      client,
      mayRoute,
      draining: record.draining,
      lost: false,
      silentTicks: 0,
      countersAtTick: 0,
      heir: null,
    };
    return made;
  };

  const settings = (id: string, proxy: ProxyConfig): ProxySettings => ({
    id,
    feedSocket: feedSocket(id),
    home: paths.home,
    proxy,
  });

  const record = (id: string, running: RunningProcess): ProxyRecord => {
    const made = { id, identity: running.identity, startedAt: parts.clock.now(), draining: false };
    records.put(made);
    return made;
  };

  /** So that the process about to start finds its code compiled. */
  const compile = async (proxy: ProxyConfig): Promise<void> => {
    if (parts.command !== undefined) return;
    await compileOnce({
      argv: own,
      env: { ...parts.env, OWL_PROXY_SETTINGS: JSON.stringify(settings("proxy", proxy)), OWL_PROXY_LOAD_ONLY: "1" },
      cwd: paths.home,
      directory: compiled,
      key: `${parts.release} ${proxy.tls === null ? "http" : "https"}`,
    });
  };

  return {
    async spawn(proxy, descriptors) {
      await compile(proxy);
      const id = `${PROXY_SERVICE}-${records.nextNumber()}`;
      rmSync(feedSocket(id), { force: true });
      const running = await parts.spawner.spawn({
        instance: id,
        service: PROXY_SERVICE,
        argv: command,
        cwd: paths.home,
        env: {
          ...parts.env,
          NODE_COMPILE_CACHE: compiled,
          [INSTANCE_ENV.mark]: parts.mark,
          [INSTANCE_ENV.instance]: id,
          [INSTANCE_ENV.service]: PROXY_SERVICE,
          [INSTANCE_ENV.release]: parts.release,
          OWL_PROXY_SETTINGS: JSON.stringify(settings(id, proxy)),
          // 3 is the exit FIFO, the listeners follow it.
          OWL_PROXY_LISTEN_FDS: descriptors.map((_, index) => index + 4).join(","),
          // Clients wait in the backlog until it knows where to; the very first one has no table to wait for.
          ...(hooks.currentTable() === null ? {} : { OWL_PROXY_AWAIT_TABLE: "1" }),
        },
        user: null,
        umask: 0o077,
        logFile: join(paths.logs, `${id}.log`),
        exitFifo: exitFifo(id),
        descriptors,
      });
      return member(record(id, running), running, false);
    },
    async succeed(old, proxy, stay) {
      await compile(proxy);
      const id = `${PROXY_SERVICE}-${records.nextNumber()}`;
      old.heir = id;
      const pid = await old.client.succeed({ settings: settings(id, proxy), command, stay });
      old.heir = null;
      const identity = parts.table.identify(pid);
      const running = identity === null ? null : parts.spawner.adopt(identity, exitFifo(id));
      if (running === null) {
        throw new OwlError("proxy.successorFailed", `${id} ended right after it had started.`, {
          next: `Look at the log of ${old.id}: owlctl logs ${old.id}`,
        });
      }
      return member(record(id, running), running, true);
    },
    adopt(kept) {
      const running = parts.spawner.adopt(kept.identity, exitFifo(kept.id));
      if (running !== null) {
        records.put(kept);
        return member(kept, running, true);
      }
      records.remove(kept.id);
      cleanUp(kept.id);
      return null;
    },
    strays(members) {
      const known = new Set([...members].flatMap(({ id, running }) => [id, running.identity.pid]));
      return parts.table
        .marked(parts.mark)
        .filter(({ service, leader }) => service === PROXY_SERVICE && leader)
        .filter(({ instance, identity }) => !known.has(instance) && !known.has(identity.pid))
        .map(({ instance, identity }) => ({
          id: instance,
          identity,
          startedAt: parts.clock.now(),
          draining: false,
        }));
    },
    noteDraining(member) {
      records.put({ ...member.record, draining: true });
    },
    forget(gone) {
      gone.client.close();
      records.remove(gone.id);
      cleanUp(gone.id);
    },
  };

  function cleanUp(id: string): void {
    rmSync(feedSocket(id), { force: true });
    rmSync(exitFifo(id), { force: true });
  }
}

/** Serving goes before recording: what cannot be written is told, never thrown. */
function tolerantRecords(records: ProxyRecords, unrecorded: (error: Error) => void): ProxyRecords {
  let highest = 0;
  const attempt = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      unrecorded(asError(error));
    }
  };
  return {
    all: () => records.all(),
    put: (record) => attempt(() => records.put(record)),
    remove: (id) => attempt(() => records.remove(id)),
    nextNumber() {
      let next = highest + 1;
      attempt(() => {
        next = records.nextNumber();
      });
      highest = Math.max(highest, next);
      return next;
    },
  };
}

/** Its state as status tells it. */
export function stateOf(member: ProxyMember): string {
  if (member.draining) return "draining";
  if (member.lost) return "unhealthy";
  return member.client.hello() === null ? (member.mayRoute ? "unreachable" : "starting") : "ready";
}

/** Why a process that was begun is no longer waited for, in its own last words: owld itself may end over it. */
export function endedEarly(id: string, logFile: string): OwlError {
  const { error, next } = lastWords(logFile);
  return new OwlError("proxy.failed", `${id} ended before it listened${error === "" ? "." : `: ${error}`}`, {
    next: `${next}${next === "" ? "" : " "}Its log: ${logFile}`,
    data: { proxy: id },
  });
}

/** The last line of its log: a line of its own (proxy/log.ts), or what Node printed. */
function lastWords(logFile: string): { readonly error: string; readonly next: string } {
  let line = "";
  try {
    line = readFileSync(logFile, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const { error, message, next } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return { error: String(error ?? message ?? line), next: typeof next === "string" ? next : "" };
  } catch {
    return { error: line.slice(0, WORDS), next: "" };
  }
}
