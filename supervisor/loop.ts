// THE loop: something happened -> the core decides -> the state is written -> effects go out; again until nothing is
// left to do. Everything that changes a fact calls `wake`; a tick looks at deadlines.
// Invariant: decisions are taken in one place and one at a time, always from facts.

import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../config/config.ts";
import { createLoop, type Running } from "../config/running.ts";
import type { Clock } from "../config/time.ts";
import { isSharing } from "./core/confirm.ts";
import { decide } from "./core/decide.ts";
import { type Instance, isLiving, PROXY } from "./core/instance.ts";
import { type RoutedService, routesOf } from "./core/routing-table.ts";
import type { Text } from "./core/text/text.ts";
import type { Action, RolloutFacts, World } from "./core/world.ts";
import type { InstanceBook } from "./instances/book.ts";
import type { Instances } from "./instances/life.ts";
import type { Routing } from "./instances/routing.ts";
import type { ServiceWishes } from "./instances/wishes.ts";
import type { Measures } from "./observe/measures.ts";
import type { InstanceLogs, ProxySet } from "./ports.ts";
import type { Comparison } from "./rollouts/comparison.ts";
import type { RolloutRunner } from "./rollouts/record.ts";
import type { Definitions } from "./state/definitions.ts";
import type { Store } from "./state/store.ts";

const TICK_MS = 100;
/** Rounds of one wake; more would be a decision that undoes itself. */
const ROUNDS = 1_000;
const RETRY_STORE_MS = 1_000;

interface SupervisorParts {
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly book: InstanceBook;
  readonly instances: Instances;
  readonly rollouts: RolloutRunner;
  readonly comparison: Comparison;
  /** Its newest health check has not passed, or is answered too slowly. */
  readonly doubts: (instance: string) => boolean;
  readonly routing: Routing;
  readonly definitions: Pick<Definitions, "forNew" | "codeBefore">;
  readonly wishes: ServiceWishes;
  readonly measures: Measures;
  readonly logs: Pick<InstanceLogs, "tail" | "bound">;
  readonly proxies: Pick<ProxySet, "wanted">;
  readonly config: () => Config;
  /** Nothing but the proxy is started yet. */
  readonly opening: () => boolean;
  /** An update lets this service have no instance now. */
  readonly rests: (service: ServiceConfig) => boolean;
  /** Routes of the bundled pages answer 503 with this; null: they are open. */
  readonly closed: () => RoutedService["closed"];
  /** Bundled services wait for their database. */
  readonly held: () => boolean;
  readonly connectionLimit: () => number | null;
  readonly freeMemoryBytes: () => number | null;
  /** What a rollout tried out comes into force, or does not, when it is over. True when that changed something. */
  readonly settleDefinitions: () => boolean;
  /** After every turn of the loop. */
  readonly turned: () => void;
  /** The kernel bounds whom it is to bound. */
  readonly bound: () => void;
}

/** Started, it decides and ticks; stopped, it lets go: processes live on. */
export interface Supervisor extends Running {
  /** Something changed; cheap, may be called from anywhere. */
  wake(): void;
  isStopping(): boolean;
  /** What decisions are taken from; with another configuration, what they would be taken from then. */
  world(config?: Config): World;
  /** Sends everything away; resolves when no process of a service lives. */
  drainAll(): Promise<void>;
  /** Kills what still lives. */
  killAll(why: "secondSignal" | "replaced" | "owldStops"): void;
}

/** `wake` of the returned loop is to be called whenever a fact changed. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the one loop: what it sees, decides and carries out.
export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { clock, book, instances, rollouts, routing, store } = parts;
  const record = parts.record.recorded;
  const empty = Promise.withResolvers<void>();
  let active = false;
  let scheduled = false;
  let stopping = false;
  let retryAtMs = 0;

  function world(config: Config = parts.config()): World {
    const { processes, configHash } = parts.proxies.wanted(config.proxy);
    const proxy = { name: PROXY, wanted: processes, connections: 0, memoryBytes: null, held: false, configHash };
    const services = config.services.map((service) => {
      const peak = parts.measures.of(service.name).peakRssBytes;
      return {
        name: service.name,
        wanted: parts.rests(service) ? 0 : parts.wishes.wanted(service),
        connections: service.connections,
        memoryBytes: peak === null ? null : peak * 1.2,
        held: (service.bundled && parts.held()) || parts.opening(),
        configHash: null,
        ...(service.dependsOn === undefined ? {} : { dependsOn: service.dependsOn }),
      };
    });
    return {
      text: record,
      services: [proxy, ...services],
      instances: book.all(),
      rollout: rolloutFacts(),
      surge: config.rollout.surge,
      connectionLimit: parts.connectionLimit(),
      memoryBytes: parts.freeMemoryBytes(),
      stopping,
      paused: store.failing() !== null,
      nowMs: clock.monotonicMs(),
    };
  }

  function rolloutFacts(): RolloutFacts | null {
    const facts = rollouts.facts();
    if (facts === null || facts.confirmMs === 0) return facts;
    const doubtful = book.all().flatMap(({ id, rollout }) => (rollout === facts.id && parts.doubts(id) ? [id] : []));
    const judged = parts.comparison.judge(facts, book.all());
    return { ...facts, worse: judged.worse, doubtful: [...doubtful, ...judged.doubtful] };
  }

  function routed(): readonly RoutedService[] {
    const closed = parts.closed();
    const facts = rollouts.facts();
    const sharing = facts?.share !== undefined && isSharing(world());
    const share = sharing ? { share: { rollout: facts.id, part: facts.share.part } } : {};
    const tried = new Map(parts.definitions.forNew(facts?.id ?? null).services.map((one) => [one.name, one]));
    return parts.config().services.map((service) => ({
      name: service.name,
      routes: routesOf(service, tried.get(service.name), parts.definitions.codeBefore(service.name)),
      closed: service.bundled ? closed : null,
      ...share,
    }));
  }

  function wake(): void {
    if (scheduled || !active) return;
    scheduled = true;
    queueMicrotask(run);
  }

  function run(): void {
    scheduled = false;
    if (!active) return;
    for (let round = 0; round < ROUNDS; round++) {
      routing.sync(routed(), book.all());
      instances.advance();
      const actions = decide(world());
      // What cannot be done yet (a failed one's log is being read) is asked for again; it is no reason to go round.
      const changed = actions.filter(apply).length > 0;
      if (!parts.settleDefinitions() && !changed) break;
    }
    parts.bound();
    parts.turned();
    if (stopping && !book.all().some(isLiving)) empty.resolve();
  }

  /** True when it changed something. */
  function apply(action: Action): boolean {
    switch (action.kind) {
      case "start":
        instances.start(action);
        return true;
      case "leave":
        instances.leave(action.instance, action.cause);
        return true;
      case "discard":
        instances.discard(action.instance);
        return true;
      case "replace":
        book.set(action.instance, { replaceCause: action.cause });
        return true;
      case "aside":
        instances.setAside(action.instance, action.aside);
        return true;
      case "keep":
        book.set(action.instance, { replaceCause: null });
        return true;
      case "retry":
        book.set(action.instance, { attempt: 0, crashedMs: [], deadline: null, rollout: action.rollout });
        return true;
      case "fail":
        return fail(action.instance, action.reason);
      case "end":
        return end(action.state);
    }
  }

  function fail(id: string, told: string | null): boolean {
    const instance = book.get(id);
    if (instance === null) return false;
    rollouts.fail(instance, told ?? whyFailed(instance), parts.logs.tail(id, 50));
    // Merely worse, it goes as any other: with its grace. Without an old one, its place is tried again by itself.
    const old = instance.replaces === null ? null : book.get(instance.replaces);
    if (told !== null || old === null || !isLiving(old)) return true;
    if (isLiving(instance)) instances.kill(id, record.cause.rolloutFailed);
    else instances.discard(id);
    return true;
  }

  function whyFailed({ id, cause, lastExit, readyMs, state, startedMs }: Instance): string {
    const t = record.rollout;
    const how = lastExit?.known ? (lastExit.signal ?? t.exitCode(lastExit.code)) : t.exitUnknown;
    if (cause !== null) return cause;
    if (state === "unhealthy") return readyMs === null ? t.notReady(id) : t.unhealthyNew(id);
    if (lastExit === null) return t.notReady(id);
    if (readyMs === null || readyMs < startedMs) return t.endedEarly(id, how);
    return t.exitedNew(id, how, Math.round((clock.monotonicMs() - readyMs) / 100) / 10);
  }

  function end(state: "succeeded" | "failed" | "cancelled"): boolean {
    const facts = rollouts.facts();
    if (facts === null) return false;
    const left = facts.targets.filter((target) => book.get(target)?.wanted === "up");
    const fresh = book.all().filter((one) => one.rollout === facts.id && one.wanted === "up");
    const draining = facts.targets.filter((target) => {
      const one = book.get(target);
      return one !== null && one.wanted === "down" && isLiving(one);
    });
    const still = draining.length === 0 ? null : record.rollout.stillDraining(list(draining));
    const summary =
      fresh.length + left.length === 0
        ? record.rollout.noneReplaced
        : record.rollout.left(list(fresh.map(({ id }) => id)), list(left));
    rollouts.end(
      state,
      [state === "cancelled" ? summary : null, still].filter((one) => one !== null).join(" ") || null,
    );
    if (rollouts.facts() !== null) return false;
    for (const id of left) if (book.get(id)?.replaceCause) book.set(id, { replaceCause: null });
    return true;
  }

  const ticking = createLoop({
    clock,
    everyMs: TICK_MS,
    runOnce() {
      instances.tick();
      parts.logs.bound();
      parts.comparison.tick(rollouts.facts());
      if (store.failing() !== null && clock.monotonicMs() >= retryAtMs) {
        retryAtMs = clock.monotonicMs() + RETRY_STORE_MS;
        const lost = store.retry() ? store.takeDropped() : 0;
        if (lost > 0)
          parts.log.warn({ lost }, "the oldest events were let go while the state file could not be written");
      }
      wake();
    },
    failed: (error) => parts.log.error({ err: error }, "a tick failed"),
  });

  return {
    async start() {
      active = true;
      await ticking.start();
      wake();
    },
    wake,
    world,
    isStopping: () => stopping,
    drainAll() {
      stopping = true;
      wake();
      return empty.promise;
    },
    killAll(why) {
      for (const instance of book.all()) instances.kill(instance.id, record.cause[why]);
    },
    async stop() {
      active = false;
      await ticking.stop();
      routing.stop();
      instances.letGo();
    },
    stopped: ticking.stopped,
  };
}

function list(ids: readonly string[]): string {
  return ids.join(", ");
}
