// All proxy processes as one: started, adopted, respawned, replaced, fed.
// Invariant: whoever may still route a request is in the set and gets every table; a process leaves the set only when
// it is gone. The listeners are held by owld or systemd where possible, so that after a crash clients wait in the
// backlog; after a kill -9 of owld only the proxies hold them, and a successor gets them from its predecessor.

import type { ListenAddress, ProxyConfig } from "../../config/config.ts";
import { asError, invariant, OwlError } from "../../config/errors.ts";
import { addressList, addressName, listenAddresses, type RoutingTable } from "../../config/proxy-feed.ts";
import { NO_COUNTERS, retireCounters, sumCounters } from "../core/proxy-sums.ts";
import type { Text } from "../core/text/text.ts";
import type { ProxyRecord, ProxySet } from "../ports.ts";
import { createCondition } from "../process/condition.ts";
import { type HeldListener, holdListener } from "../process/held-listeners.ts";
import { logPath } from "../process/log-text.ts";
import {
  createMemberFactory,
  endedEarly,
  type MemberParts,
  PROXY_SERVICE,
  type ProxyMember,
  stateOf,
} from "./member.ts";

const TICK_MS = 1_000;
/** Ticks without an answer: then it hangs, or cannot be reached any more. */
const SILENT_TICKS = 10;
/** A successor must listen and have its table within this. */
const START_MS = 30_000;
/** Beyond the drain's own limit, until a process that does not end is killed. */
const DRAIN_SLACK_MS = 5_000;
/** After so many crashes in a row the next try waits, 1 s doubling to 30 s. */
const AT_ONCE_CRASHES = 3;
const BACKOFF_MS = 1_000;
const BACKOFF_LIMIT_MS = 30_000;
const CALM_MS = 60_000;

export interface ProxyNotice {
  readonly type: "proxy.adopted" | "proxy.ready" | "proxy.crashed" | "proxy.hung" | "proxy.draining" | "proxy.exited";
  readonly proxy: string;
  readonly message: string;
}

interface ProxySetParts extends MemberParts {
  readonly proxy: ProxyConfig;
  /** systemd's listening descriptors in the order of `proxy.listen`; empty: owld binds. */
  readonly listenFds: readonly number[];
  readonly notice: (notice: ProxyNotice) => void;
  /** What is written down is written once, in this. */
  readonly record: Text;
}

export function createProxySet(parts: ProxySetParts): ProxySet {
  const { clock, records, table: processes } = parts;
  const say = parts.record.recorded.proxy;
  const condition = createCondition();
  const members = new Set<ProxyMember>();
  const lifetime = new AbortController();
  let proxy = parts.proxy;
  let listening: readonly string[] = proxy.listen.map(addressName);
  /** By `host:port`; empty after an adoption: then only the proxies have them. */
  const held = new Map<string, HeldListener>();
  let current: RoutingTable | null = null;
  let lastVersion = 0;
  let retired = NO_COUNTERS;
  let stopping = false;
  let crashes = 0;
  let lastCrashMs = Number.NEGATIVE_INFINITY;
  let filling: Promise<void> = Promise.resolve();
  /** Processes being started: they carry our mark and are no members yet. */
  let launching = 0;

  const factory = createMemberFactory(parts, {
    currentTable: () => current,
    changed(member) {
      // A proxy that outlived an earlier owld may know a newer version than we gave: ours must be above it.
      const hello = member.client.hello();
      const known = hello?.version ?? 0;
      // Kept beyond a crash: the socket is still there.
      if (hello !== null && hello.listening.length > 0 && !member.draining) listening = hello.listening;
      if (current !== null && known > current.version) feed({ ...current, version: known + 1 });
      lastVersion = Math.max(lastVersion, known);
      condition.changed();
    },
  });

  const serving = (): ProxyMember[] => [...members].filter((member) => !member.draining && !member.lost);
  const isUp = (member: ProxyMember): boolean =>
    member.client.hello() !== null && (current === null || member.client.acknowledged() >= current.version);

  function feed(table: RoutingTable): void {
    current = table;
    lastVersion = table.version;
    for (const member of members) member.client.send({ type: "table", table });
  }

  function add(member: ProxyMember): ProxyMember {
    members.add(member);
    // Settled by `gone` alone; it never rejects.
    void member.running.exited.then((report) => {
      const how = report.known ? (report.signal ?? parts.record.recorded.exit.code(report.code)) : null;
      gone(member, how);
    });
    return member;
  }

  function gone(member: ProxyMember, how: string | null): void {
    if (!members.delete(member)) return;
    // Its end may be seen before its word that it has handed over.
    const heir = member.heir === null ? undefined : factory.strays(members).find(({ id }) => id === member.heir);
    if (heir !== undefined) {
      adopt(heir);
      member.draining = true;
    }
    const last = member.client.counters();
    if (last !== null) retired = sumCounters([retired, retireCounters(last)]);
    factory.forget(member);
    if (member.draining || member.lost || stopping) {
      parts.notice({ type: "proxy.exited", proxy: member.id, message: say.exited(member.id, how) });
    } else {
      parts.notice({ type: "proxy.crashed", proxy: member.id, message: say.crashed(member.id, how) });
      const now = clock.monotonicMs();
      crashes = now - lastCrashMs > CALM_MS ? 1 : crashes + 1;
      lastCrashMs = now;
      fill();
    }
    condition.changed();
  }

  /** Descriptors to spawn on. Binds when nobody of ours serves; null: only a living proxy process has them. */
  async function descriptors(config: ProxyConfig): Promise<readonly number[] | null> {
    if (parts.listenFds.length > 0) return parts.listenFds;
    if (held.size === 0 && serving().length > 0) return null;
    const found: number[] = [];
    for (const address of listenAddresses(config)) {
      const name = addressName(address);
      const listener = held.get(name) ?? (await holdListener(address));
      held.set(name, listener);
      found.push(listener.descriptor);
    }
    return found;
  }

  /** Ends what owld holds beyond `wanted`. */
  async function closeHeld(wanted: readonly ListenAddress[]): Promise<void> {
    const kept = new Set(wanted.map(addressName));
    for (const [name, listener] of [...held].filter(([one]) => !kept.has(one))) {
      held.delete(name);
      await listener.close();
    }
  }

  /** Starts a process by `config`; `replaces` drains by itself when it had to hand over its listeners. */
  async function launch(config: ProxyConfig, replaces: ProxyMember | null): Promise<ProxyMember> {
    launching++;
    try {
      return await begin(config, replaces);
    } finally {
      launching--;
      condition.changed();
    }
  }

  async function begin(config: ProxyConfig, replaces: ProxyMember | null): Promise<ProxyMember> {
    const own = await descriptors(config);
    if (own !== null) return add(await factory.spawn(config, own));
    const old = replaces ?? serving().find((member) => member.client.hello() !== null);
    if (old === undefined)
      throw new OwlError("proxy.failed", "No proxy process can be reached that has the listeners.");
    if (addressList(config) !== addressList(proxy)) {
      throw new OwlError("proxy.listenFixed", "Other addresses in proxy.listen need a restart of Owl.", {
        next: "Its proxy outlived an earlier owld and keeps the old ones until then.",
      });
    }
    try {
      const member = add(await factory.succeed(old, config, replaces === null));
      if (replaces !== null) noteDraining(old);
      return member;
    } catch (error) {
      const heir = serving().find(({ id }) => id === old.heir);
      if (heir === undefined) throw error;
      return heir;
    }
  }

  /** Resolves when it listens and has the table; rejects when it ends or takes too long (the caller ends it). */
  async function comeUp(member: ProxyMember): Promise<void> {
    const tooLate = new OwlError("proxy.failed", `${member.id} did not listen within ${START_MS / 1_000} s.`, {
      next: `Look at its log: owlctl logs ${member.id}`,
    });
    const limit = new AbortController();
    const cancel = clock.after(START_MS, () => limit.abort(tooLate));
    try {
      await condition.until(
        () => {
          if (!members.has(member)) throw endedEarly(member.id, logPath(parts.paths.logs, member.id));
          return isUp(member);
        },
        AbortSignal.any([limit.signal, lifetime.signal]),
      );
      parts.notice({ type: "proxy.ready", proxy: member.id, message: say.ready(member.id) });
    } finally {
      cancel();
    }
  }

  /** Starts what is missing, one filling at a time; failures are retried with a growing pause. */
  function fill(): void {
    filling = filling.then(async () => {
      // One of an earlier owld may have handed over to one that nobody of us knows.
      if (launching === 0) for (const record of factory.strays(members)) adopt(record);
      while (!stopping && !lifetime.signal.aborted && serving().length < proxy.processes) {
        try {
          if (crashes > AT_ONCE_CRASHES) await clock.sleep(backoffMs(crashes - AT_ONCE_CRASHES), lifetime.signal);
          if (stopping || lifetime.signal.aborted) return;
          await launch(proxy, null);
        } catch (error) {
          if (lifetime.signal.aborted) return;
          crashes++;
          parts.notice({ type: "proxy.crashed", proxy: PROXY_SERVICE, message: asError(error).message });
        }
      }
    });
  }

  function drain(member: ProxyMember): void {
    if (member.draining) return;
    noteDraining(member);
    // SIGTERM means the same to it, and needs no feed.
    if (!member.client.send({ type: "drain" })) processes.signalLeader(member.running.identity, "SIGTERM");
  }

  function noteDraining(member: ProxyMember): void {
    member.draining = true;
    factory.noteDraining(member);
    parts.notice({ type: "proxy.draining", proxy: member.id, message: say.draining(member.id) });
    killAfterDrain(member);
    condition.changed();
  }

  function killAfterDrain(member: ProxyMember): void {
    clock.after(proxy.drainTimeoutMs + DRAIN_SLACK_MS, () => members.has(member) && kill(member), { unref: true });
  }

  function kill(member: ProxyMember): void {
    processes.killGroup(member.running.identity);
  }

  /** Asks every process for its counters, which is also how it shows that it lives. */
  function tick(): void {
    for (const member of members) {
      const seen = member.client.countersSeen();
      member.silentTicks = seen === member.countersAtTick ? member.silentTicks + 1 : 0;
      member.countersAtTick = seen;
      member.client.send({ type: "counters" });
      const limit = member.mayRoute ? SILENT_TICKS : START_MS / TICK_MS;
      if (member.silentTicks >= limit && !member.lost && !member.draining) giveUp(member);
    }
    if (clock.monotonicMs() - lastCrashMs > CALM_MS) crashes = 0;
  }

  function giveUp(member: ProxyMember): void {
    member.lost = true;
    const connected = member.client.hello() !== null;
    const message = connected ? say.silent(member.id) : say.unreachable(member.id);
    parts.notice({ type: "proxy.hung", proxy: member.id, message });
    if (connected || (held.size === 0 && parts.listenFds.length === 0)) {
      // It hangs, so it serves nobody; or its listeners are needed back.
      kill(member);
    } else {
      // It may serve well and only its feed is lost: it ends by itself while its successor takes over.
      processes.signalLeader(member.running.identity, "SIGTERM");
      killAfterDrain(member);
    }
    fill();
    condition.changed();
  }

  async function everyTick(): Promise<void> {
    for await (const _ of clock.every(TICK_MS, lifetime.signal)) tick();
  }

  function adoptAll(): void {
    for (const record of records.all()) adopt(record);
    // Killed between a spawn and its record: the mark tells.
    for (const record of factory.strays(members)) adopt(record);
  }

  function adopt(record: ProxyRecord): void {
    const member = factory.adopt(record);
    if (member === null) return;
    add(member);
    if (record.draining) killAfterDrain(member);
    else if (stopping) drain(member);
    parts.notice({ type: "proxy.adopted", proxy: member.id, message: say.adopted(member.id) });
  }

  function drainExtra(): void {
    // Oldest first: a replacement that was interrupted is ended this way.
    const extra = serving().toSorted((left, right) => left.record.startedAt - right.record.startedAt);
    for (const member of extra.slice(0, Math.max(0, extra.length - proxy.processes))) drain(member);
  }

  /** Every process that may be routing has `version`; those gone meanwhile do not count. */
  function taken(version: number): boolean {
    return [...members].every((member) => !member.mayRoute || member.lost || member.client.acknowledged() >= version);
  }

  return {
    async start() {
      adoptAll();
      void everyTick();
      await condition.until(() => serving().every((member) => member.client.hello() !== null), lifetime.signal);
      drainExtra();
      const started: ProxyMember[] = [];
      try {
        while (serving().length < proxy.processes) started.push(await launch(proxy, null));
        for (const member of started) await comeUp(member);
      } catch (error) {
        // Adopted ones serve on; what was begun here is undone.
        stopping = true;
        for (const member of started) kill(member);
        await condition.until(() => started.every((member) => !members.has(member)));
        await closeHeld([]);
        throw error;
      }
    },
    async publish(table) {
      // The door is closed before the services stop: with nobody left who could route, nobody is asked.
      if (stopping && members.size === 0) return;
      const version = Math.max(table.version, lastVersion + 1);
      feed({ ...table, version });
      await condition.until(() => taken(version), lifetime.signal);
    },
    async idle(upstream, signal) {
      if (stopping && members.size === 0) return;
      const asked = new Map([...members].filter((member) => member.mayRoute).map((m) => [m, m.client.countersSeen()]));
      for (const member of asked.keys()) member.client.send({ type: "counters" });
      const isIdle = (member: ProxyMember): boolean =>
        member.client.counters()?.upstreams.find(({ id }) => id === upstream)?.inFlight === 0 ||
        member.client.counters()?.upstreams.every(({ id }) => id !== upstream) === true;
      await condition.until(
        () =>
          [...asked].every(
            ([member, seen]) =>
              !members.has(member) || member.lost || (member.client.countersSeen() > seen && isIdle(member)),
          ),
        AbortSignal.any([signal, lifetime.signal]),
      );
    },
    moveStreams(upstream) {
      for (const member of members) member.client.send({ type: "moveStreams", upstream });
    },
    async refresh(signal) {
      const asked = new Map([...members].map((member) => [member, member.client.countersSeen()]));
      for (const member of asked.keys()) member.client.send({ type: "counters" });
      const answered = ([member, seen]: [ProxyMember, number]): boolean =>
        !members.has(member) || member.lost || member.client.hello() === null || member.client.countersSeen() > seen;
      await condition.until(() => [...asked].every(answered), AbortSignal.any([signal, lifetime.signal]));
    },
    counters: () => sumCounters([retired, ...[...members].map((member) => member.client.counters() ?? NO_COUNTERS)]),
    processes: () =>
      [...members].map((member) => ({ id: member.id, pid: member.running.identity.pid, state: stateOf(member) })),
    listening: () => listening,
    async replace(config = proxy) {
      invariant(!stopping, "a stopping proxy set replaces nothing");
      for (const old of serving()) {
        const successor = await launch(config, old);
        try {
          await comeUp(successor);
        } catch (error) {
          successor.draining = true;
          kill(successor);
          await closeHeld(listenAddresses(proxy));
          throw error;
        }
        drain(old);
      }
      proxy = config;
      drainExtra();
      fill();
      await closeHeld(listenAddresses(proxy));
    },
    async stop() {
      stopping = true;
      // First, so that new clients are refused at once instead of waiting in a backlog nobody reads.
      await closeHeld([]);
      for (const member of members) drain(member);
      await condition.until(() => members.size === 0);
      lifetime.abort(new OwlError("supervisor.stopping", "The proxy was stopped."));
    },
    letGo() {
      lifetime.abort(new OwlError("supervisor.stopping", "owld let go of the proxy."));
      for (const member of members) {
        member.running.release();
        member.client.close();
      }
      members.clear();
      void closeHeld([]);
    },
  };
}

function backoffMs(attempt: number): number {
  return Math.min(BACKOFF_LIMIT_MS, BACKOFF_MS * 2 ** (attempt - 1));
}
