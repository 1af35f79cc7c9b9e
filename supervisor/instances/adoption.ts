// What an earlier owld left: its processes are taken over, those that went meanwhile are seen off.
// Invariant: a process is ours when pid, start time and boot all agree with the record, or when it carries our mark;
// nothing else is touched. A number given once is never given again, whatever happened to the state file.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home.ts";
import type { Clock } from "../../config/time.ts";
import { counterOf, type Instance, isLiving, newInstance, numberOf, PROXY } from "../core/instance.ts";
import type { Sentence, Text } from "../core/text/text.ts";
import type { MarkedProcess, ProcessTable, Spawner } from "../ports.ts";
import type { Store } from "../state/store.ts";
import type { InstanceBook } from "./book.ts";
import { exitFifo } from "./launch.ts";
import type { Instances } from "./life.ts";

const LOOK_FIRST_MS = 5_000;
const ORPHAN_STOP = { signal: "SIGTERM", after: "routed-out" } as const;

interface AdoptionParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly book: InstanceBook;
  readonly instances: Instances;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly paths: HomePaths;
  readonly socketDirectory: string;
  readonly mark: string;
  readonly bootId: string;
  readonly config: Config;
  /** Takes over what is no instance, and answers what of it lives. */
  readonly timed: { adopt(marked: readonly MarkedProcess[]): void; all(): readonly { readonly id: string }[] };
  /** How a proxy without a record is stopped. */
  readonly proxyStop: Instance["stop"];
}

interface Adopted {
  readonly adopted: number;
  /** Marked processes nobody owns, for a warning. */
  readonly strays: readonly MarkedProcess[];
}

/** One sentence for `status`. */
export function describeStrays(strays: readonly MarkedProcess[]): Sentence {
  const named = strays.map(({ identity, command }) => `${identity.pid} (${command})`).join(", ");
  return ({ warnings }) => warnings.strays(named);
}

/** Takes over everything that lives; to be called before the first decision. */
export function adoptInstances(parts: AdoptionParts): Adopted {
  const { book, table } = parts;
  const marked = table.marked(parts.mark);
  raiseNumbers(parts, marked);
  parts.timed.adopt(marked);
  const others = new Set(parts.timed.all().map(({ id }) => id));
  const owned = new Set(marked.flatMap(({ instance, identity }) => (others.has(instance) ? [identity.pid] : [])));
  let adopted = 0;
  for (const instance of book.all()) {
    const found = adoptRecorded(parts, instance, marked);
    if (found === null) continue;
    owned.add(found);
    adopted++;
  }
  for (const found of marked) {
    if (!found.leader || owned.has(found.identity.pid) || book.get(found.instance) !== null) continue;
    if (!adoptUnrecorded(parts, found)) continue;
    owned.add(found.identity.pid);
    adopted++;
  }
  const groups = new Set(book.all().flatMap(({ identity }) => (identity === null ? [] : [identity])));
  const members = new Set([...groups].flatMap((identity) => table.groupMembers(identity).map(({ pid }) => pid)));
  return { adopted, strays: marked.filter(({ identity }) => !owned.has(identity.pid) && !members.has(identity.pid)) };
}

/** The pid when it lives and is ours now. */
function adoptRecorded(parts: AdoptionParts, instance: Instance, marked: readonly MarkedProcess[]): number | null {
  const { book, instances } = parts;
  const { id } = instance;
  if (instance.bootId !== parts.bootId) {
    // Another boot ended everything: nothing crashed, nothing is owed.
    book.remove(id);
    return null;
  }
  if (instance.state === "exited") book.remove(id);
  if (!isLiving(instance)) return null;
  const written = instance.identity ?? marked.find((one) => one.leader && one.instance === id)?.identity ?? null;
  if (written === null) {
    // Killed between writing and spawning.
    book.remove(id);
    return null;
  }
  if (instance.identity === null) book.set(id, { identity: written });
  const running = parts.spawner.adopt(written, exitFifo(parts.paths, id));
  if (running === null) {
    instances.exited(id, { known: false });
    return null;
  }
  if (instance.deadline?.kind === "health") {
    // Nobody looked while no owld ran: it may long be ready, so it is looked at before its time is up.
    const leastMs = parts.clock.monotonicMs() + Math.min(LOOK_FIRST_MS, parts.config.rollout.healthTimeoutMs);
    book.set(id, { deadline: { kind: "health", atMs: Math.max(instance.deadline.atMs, leastMs) } });
  }
  instances.attach(id, running);
  book.note(instance, "instance.adopted", parts.record.recorded.instance.adopted(id, written.pid));
  return written.pid;
}

/** A marked leader the state file knows nothing of: it is judged by its health check like a new one. */
function adoptUnrecorded(parts: AdoptionParts, found: MarkedProcess): boolean {
  const { id, service: name } = { id: found.instance, service: found.service };
  const service = parts.config.services.find((one) => one.name === name);
  const number = numberOf(id, name);
  if (number === null) return false;
  const running = parts.spawner.adopt(found.identity, exitFifo(parts.paths, id));
  if (running === null) return false;
  const now = parts.clock.monotonicMs();
  const socket = join(parts.socketDirectory, `${id}.sock`);
  const hasSocket = service?.listen === "socket" && existsSync(socket);
  // Its port was only written in the state file: such a one cannot be reached, so a new one takes its place.
  const unreachable = service !== undefined && service.listen !== "none" && !hasSocket;
  const { graceMs, signal, after } = service?.stop ?? { ...ORPHAN_STOP, graceMs: parts.config.stop.graceMs };
  const instance = newInstance({
    id,
    service: name,
    number,
    identity: found.identity,
    release: found.release,
    target: hasSocket ? { socket } : null,
    startedAt: parts.clock.now(),
    startedMs: now,
    bootId: parts.bootId,
    deadline: { kind: "health", atMs: now + parts.config.rollout.healthTimeoutMs },
    replaceCause: unreachable ? parts.record.recorded.cause.unreachable : null,
    stop: name === PROXY ? parts.proxyStop : { graceMs, signal, after },
  });
  parts.book.add(instance, parts.record.recorded.instance.adoptedByMark(id, found.identity.pid), "instance.adopted");
  parts.instances.attach(id, running);
  return true;
}

function raiseNumbers(parts: AdoptionParts, marked: readonly MarkedProcess[]): void {
  const logs = existsSync(parts.paths.logs)
    ? readdirSync(parts.paths.logs).map((file) => file.replace(/\.log(\.\d+)?$/, ""))
    : [];
  for (const name of [...logs, ...marked.map(({ instance }) => instance)]) {
    const cut = name.lastIndexOf("-");
    const number = cut < 1 ? null : numberOf(name, name.slice(0, cut));
    if (number === null) continue;
    const service = name.slice(0, cut);
    parts.store.raise(counterOf(service), number);
  }
}
