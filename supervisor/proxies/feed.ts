// The feed to all proxy processes at once: every table goes to each, acknowledgements and counters come from each.
// Invariant: whoever may still route a request is a member and gets every table; a member goes only with its process.

import type { Challenge, ProxyCounters, RoutingTable } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";
import { type Instance, isServing } from "../core/instance.ts";
import { NO_COUNTERS, retireCounters, sumCounters } from "../core/proxy-sums.ts";
import type { ProxySet, RunningProcess } from "../ports.ts";
import { createCondition } from "../process/condition.ts";
import { createProxyClient, type ProxyClient } from "./client.ts";

const KEPT_GONE = 20;

interface Member {
  readonly client: ProxyClient;
  /** It spoke to us once, or came to be without us: it may be routing by some table. */
  mayRoute: boolean;
  /** Ticks without a sign of life. */
  silentTicks: number;
  countersAtTick: number;
}

interface ProxyFeedParts {
  readonly clock: Clock;
  readonly feedSocket: (id: string) => string;
  readonly instance: (id: string) => Instance | null;
  /** Something of this one changed: hello, acknowledgement, counters, or the connection broke. */
  readonly changed: (id: string) => void;
}

type Shared = "publish" | "challenge" | "idle" | "moveStreams" | "refresh" | "counters" | "tallies" | "listening";

interface ProxyFeed extends Pick<ProxySet, Shared> {
  /** A process that runs. `mayRoute`: it has a table already. */
  add(id: string, process: RunningProcess, mayRoute: boolean): void;
  remove(id: string): void;
  client(id: string): ProxyClient | null;
  /** It listens and has the table of now. */
  isUp(id: string): boolean;
  /** Asks all for their counters, which is also how they show that they live. Returns those silent for `ticks`. */
  tick(ticks: number): readonly string[];
  /** Resolves when `test` holds; looked at whenever something of a proxy changed. */
  until(test: () => boolean): Promise<void>;
  look(): void;
  hasTable(): boolean;
  /** They listen there from now on. */
  listen(addresses: readonly string[]): void;
  letGo(reason: Error): void;
}

export function createProxyFeed(parts: ProxyFeedParts, configured: readonly string[]): ProxyFeed {
  const condition = createCondition();
  const members = new Map<string, Member>();
  const lifetime = new AbortController();
  let listening = configured;
  let current: RoutingTable | null = null;
  let challenges: readonly Challenge[] = [];
  let lastVersion = 0;
  let retired = NO_COUNTERS;
  /** Of the last that went. */
  let gone: ReadonlyMap<string, ProxyCounters> = new Map();

  /** Given up: nobody waits for its word any more. */
  const isLost = (id: string): boolean => ["unhealthy", "stopping"].includes(parts.instance(id)?.state ?? "stopping");

  function send(table: RoutingTable): void {
    current = table;
    lastVersion = table.version;
    for (const { client } of members.values()) client.send({ type: "table", table });
  }

  function heard(id: string, member: Member): void {
    const hello = member.client.hello();
    const instance = parts.instance(id);
    if (hello !== null) {
      member.mayRoute = true;
      member.silentTicks = 0;
      // Kept beyond a crash: the socket is still there.
      if (hello.listening.length > 0 && instance !== null && isServing(instance)) listening = hello.listening;
      // A proxy that outlived an earlier owld may know a newer version than we gave: ours must be above it.
      const known = hello.version ?? 0;
      if (current !== null && known > current.version) send({ ...current, version: known + 1 });
      lastVersion = Math.max(lastVersion, known);
    }
    parts.changed(id);
    condition.changed();
  }

  /** Every process that may be routing has `version`; those gone meanwhile do not count. */
  function isTaken(version: number): boolean {
    return [...members].every(([id, one]) => !one.mayRoute || isLost(id) || one.client.acknowledged() >= version);
  }

  /** Has these answered, and resolves when each has (those gone or lost meanwhile aside) and `holds` for it. */
  async function ask(
    asked: readonly Member[],
    signal: AbortSignal,
    holds: (member: Member) => boolean = () => true,
  ): Promise<void> {
    const seen = new Map(asked.map((member) => [member, member.client.countersSeen()]));
    for (const { client } of asked) client.send({ type: "counters" });
    await condition.until(
      () =>
        [...members].every(([id, member]) => {
          const before = seen.get(member);
          return before === undefined || isLost(id) || (member.client.countersSeen() > before && holds(member));
        }),
      AbortSignal.any([signal, lifetime.signal]),
    );
  }

  async function publish({ challenges: _, ...table }: RoutingTable): Promise<void> {
    const version = Math.max(table.version, lastVersion + 1);
    send({ ...table, version, ...(challenges.length === 0 ? {} : { challenges }) });
    condition.changed();
    await condition.until(() => isTaken(version), lifetime.signal);
  }

  return {
    add(id, process, mayRoute) {
      const client: ProxyClient = createProxyClient({
        clock: parts.clock,
        feedSocket: parts.feedSocket(id),
        currentTable: () => current,
        changed: () => heard(id, member),
        // A process that is no child of ours tells its end only by this and by a slow poll.
        broke: () => process.look?.(),
      });
      const member: Member = { client, mayRoute, silentTicks: 0, countersAtTick: 0 };
      members.set(id, member);
    },
    remove(id) {
      const member = members.get(id);
      if (member === undefined) return;
      members.delete(id);
      member.client.close();
      const last = member.client.counters();
      if (last !== null) {
        retired = sumCounters([retired, retireCounters(last)]);
        gone = new Map([...gone, [id, last] as const].slice(-KEPT_GONE));
      }
      condition.changed();
    },
    client: (id) => members.get(id)?.client ?? null,
    isUp(id) {
      const member = members.get(id);
      if (member === undefined || member.silentTicks > 0 || member.client.hello() === null) return false;
      return current === null || member.client.acknowledged() >= current.version;
    },
    tick(ticks) {
      for (const member of members.values()) askForSign(member);
      return [...members].flatMap(([id, { silentTicks }]) => (silentTicks >= ticks ? [id] : []));
    },
    until: (test) => condition.until(test, lifetime.signal),
    look: () => condition.changed(),
    hasTable: () => current !== null,
    listen(addresses) {
      listening = addresses;
    },
    publish,
    async challenge(asked) {
      challenges = asked;
      await condition.until(() => current !== null, lifetime.signal);
      if (current !== null) await publish(current);
    },
    idle(upstream, signal) {
      const isIdle = ({ client }: Member): boolean =>
        client.counters()?.upstreams.every(({ id, inFlight }) => id !== upstream || inFlight === 0) === true;
      const routing = [...members.values()].filter(({ mayRoute }) => mayRoute);
      return ask(routing, signal, isIdle);
    },
    moveStreams(upstream) {
      for (const { client } of members.values()) client.send({ type: "moveStreams", upstream });
    },
    refresh(signal) {
      const reached = [...members.values()].filter(({ client }) => client.hello() !== null);
      return ask(reached, signal);
    },
    counters: () =>
      sumCounters([retired, ...[...members.values()].map(({ client }) => client.counters() ?? NO_COUNTERS)]),
    tallies: () => new Map([...gone, ...[...members].map(([id, { client }]) => [id, client.counters()] as const)]),
    listening: () => listening,
    letGo(reason) {
      lifetime.abort(reason);
      for (const { client } of members.values()) client.close();
      members.clear();
    },
  };
}

function askForSign(member: Member): void {
  const seen = member.client.countersSeen();
  member.silentTicks = seen === member.countersAtTick ? member.silentTicks + 1 : 0;
  member.countersAtTick = seen;
  member.client.send({ type: "counters" });
}
