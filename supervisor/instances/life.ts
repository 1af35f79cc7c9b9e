// The life of every instance: started, watched, sent away, seen off. What `decide` asked for is done here.
// Invariants: a record is written before its process exists and removed after it is gone; SIGTERM goes to the leader,
// once, out of the table only; SIGKILL goes to the group; a deadline is a stored instant that every tick looks at.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { AppConfig, Config, ServiceConfig } from "../../config/config.ts";
import type { LastExit, RolloutEvent } from "../../config/control-api.ts";
import { asError, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import type { Action } from "../core/decide.ts";
import { describeExit, exitOf } from "../core/exit-words.ts";
import { UNHEALTHY_LIMIT_MS } from "../core/health.ts";
import { type Instance, type InstanceTarget, isDue, isLiving } from "../core/instance.ts";
import { afterCrash, CALM_PLACE } from "../core/restart-policy.ts";
import type { Text } from "../core/text/text.ts";
import type { Measures } from "../observe/measures.ts";
import type { ExitReport, OomKills, ProcessTable, ProxySet, RunningProcess, Spawner } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Store } from "../state/store.ts";
import type { InstanceBook } from "./book.ts";
import { createDeparture } from "./departure.ts";
import type { HealthWatch } from "./health.ts";
import { configHash, envHashes, exitFifo, launchRequest } from "./launch.ts";
import type { Routing } from "./routing.ts";

interface InstanceParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly book: InstanceBook;
  readonly journal: Journal;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly measures: Measures;
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly proxies: Pick<ProxySet, "idle" | "moveStreams">;
  readonly routing: Routing;
  readonly health: HealthWatch;
  readonly paths: HomePaths;
  /** Where sockets go: `paths.run`, or a short directory when that is too long for a socket's path. */
  readonly socketDirectory: string;
  readonly mark: string;
  /** Version of the release new instances are started from. */
  readonly release: () => string;
  readonly bootId: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  /** By what a new instance of that rollout is started. */
  readonly definitionFor: (rollout: string | null) => Config;
  readonly freePort: () => Promise<number>;
  readonly oomKills: OomKills;
  /** How long the new ones of the running rollout must stand. */
  readonly confirmMs: () => number;
  /** Tells the rollouts what happened to an instance. */
  readonly milestone: (instance: Instance, event: Milestone, elapsedMs: number, message?: string) => void;
  /** A process is gone for good (its worker row, what it left behind). */
  readonly gone: (instance: Instance) => void;
}

export type Milestone = RolloutEvent["event"] | "start" | "leave";

export interface Instances {
  start(action: Extract<Action, { kind: "start" }>): void;
  leave(id: string, cause: string): void;
  discard(id: string): void;
  /** SIGKILL to the group, now. */
  kill(id: string, cause: string): void;
  /** Takes an adopted process under watch. */
  attach(id: string, running: RunningProcess): void;
  /** What an exit means: a crash, or the end that was asked for. */
  exited(id: string, report: ExitReport): void;
  passed(id: string): void;
  failing(id: string, why: string): void;
  /** Moves on whoever is on the way out, and notes who is routed by now. */
  advance(): void;
  /** Looks at every deadline. */
  tick(): void;
  /** Out of the table until its successor has stood, or back in. */
  setAside(id: string, aside: boolean): void;
  /** Everything lives on without us. */
  letGo(): void;
}

export function createInstances(parts: InstanceParts): Instances {
  const { clock, book, journal, table, paths, oomKills } = parts;
  const { recorded } = parts.record;
  const say = recorded.instance;
  const running = new Map<string, RunningProcess>();
  const departure = createDeparture(parts);
  /** Leader gone, group killed, not yet empty. */
  const emptying = new Set<string>();

  const serviceOf = (name: string): ServiceConfig | null =>
    parts.config().services.find((service) => service.name === name) ?? null;
  const hasRoutes = (instance: Instance): boolean => (serviceOf(instance.service)?.routes.length ?? 0) > 0;
  const sinceMs = (at: number | null): number => (at === null ? 0 : Math.max(0, Math.round(clock.monotonicMs() - at)));

  function start(action: Extract<Action, { kind: "start" }>): void {
    const config = parts.definitionFor(action.rollout);
    const service = config.services.find(({ name }) => name === action.service);
    if (service === undefined) return;
    const app = parts.app(config);
    const followed = action.follows === null ? null : book.get(action.follows);
    // What is replaced by itself, not by a rollout, leaves its place's record to its successor.
    const before = followed ?? (action.rollout === null && action.replaces !== null ? book.get(action.replaces) : null);
    const { attempt, crashedMs, looping } = before ?? CALM_PLACE;
    const number = parts.store.next(`instance ${service.name}`);
    const id = `${service.name}-${number}`;
    const now = clock.monotonicMs();
    const instance: Instance = {
      id,
      service: service.name,
      number,
      state: "starting",
      wanted: "up",
      leaving: null,
      identity: null,
      release: parts.release(),
      configHash: configHash(service, app),
      envHashes: {},
      target: service.listen === "socket" ? { socket: join(parts.socketDirectory, `${id}.sock`) } : null,
      startedAt: clock.now(),
      startedMs: now,
      bootId: parts.bootId,
      readyMs: null,
      signalledMs: null,
      routed: false,
      deadline: { kind: "health", atMs: now + config.rollout.healthTimeoutMs },
      rollout: action.rollout,
      replaces: action.replaces,
      replaceCause: null,
      replaceFromMs: null,
      aside: false,
      cause: null,
      wasKilled: false,
      restarts: before?.restarts ?? 0,
      attempt,
      crashedMs,
      looping,
      lastExit: followed?.lastExit ?? null,
      stop: { graceMs: service.stop.graceMs, signal: service.stop.signal, after: service.stop.after },
    };
    parts.store.atomically(() => {
      parts.milestone(instance, "start", 0);
      book.add(instance);
      if (followed !== null) forget(followed);
      journal.write({ type: "instance.starting", service: service.name, instance: id, message: say.starting(id) });
      parts.milestone(instance, "starting", 0);
    });
    void launch(instance, service, app);
  }

  async function launch(instance: Instance, service: ServiceConfig, app: AppConfig | null): Promise<void> {
    const { id } = instance;
    try {
      let target: InstanceTarget = instance.target;
      if (service.listen === "port") target = { host: "127.0.0.1", port: await parts.freePort() };
      if (target !== null && "socket" in target) rmSync(target.socket, { force: true });
      const request = launchRequest({ ...launchFacts(service, instance), app, target });
      book.set(id, { target, envHashes: envHashes(request.env) });
      const process = await parts.spawner.spawn(request);
      book.set(id, { identity: process.identity });
      attach(id, process);
    } catch (caught) {
      const error = asError(caught);
      const next = error instanceof OwlError && error.next !== undefined ? ` ${error.next}` : "";
      exited(id, { known: true, code: null, signal: null }, `${error.message}${next}`);
    }
  }

  function launchFacts(service: ServiceConfig, instance: Instance) {
    const { id, target, release } = instance;
    const { mark, environment } = parts;
    return { service, id, target, paths, mark, release, environment };
  }

  function attach(id: string, process: RunningProcess): void {
    running.set(id, process);
    // Settled by `exited` alone; it never rejects.
    void process.exited.then((report) => {
      if (running.get(id) === process) exited(id, report);
    });
    const instance = book.get(id);
    if (instance !== null && instance.wanted === "up") parts.health.watch(id);
  }

  function exited(id: string, report: ExitReport, failure: string | null = null): void {
    running.delete(id);
    parts.health.forget(id);
    departure.forget(id);
    const instance = book.get(id);
    if (instance === null || !isLiving(instance)) return;
    const group = instance.identity === null ? "gone" : departure.killGroup(instance);
    const lastExit = exitOf(report, instance.wasKilled, oomKills.lately(), isoTime(clock.now()));
    if (instance.wanted === "up") {
      crashed(instance, lastExit, failure);
    } else if (group === "sent") {
      book.set(id, { lastExit });
      emptying.add(id);
    } else {
      ended(instance, lastExit);
    }
  }

  function crashed(instance: Instance, lastExit: LastExit, failure: string | null): void {
    const now = clock.monotonicMs();
    const verdict = afterCrash(instance, now);
    const how = failure ?? describeExit(lastExit, recorded);
    const next = verdict.reason(recorded);
    const message = failure === null ? say.crashed(instance.id, how, next) : say.notStarted(instance.id, how, next);
    const facts = { service: instance.service, instance: instance.id, message };
    book.move(instance.id, "crashed", {
      deadline: { kind: "backoff", atMs: now + verdict.delayMs },
      restarts: instance.restarts + 1,
      ...verdict.place,
      aside: false,
      routed: false,
      lastExit,
      cause: failure ?? instance.cause,
    });
    journal.write({ type: "instance.crashed", ...facts, data: { lastExit } });
    if (verdict.place.looping && !instance.looping)
      journal.write({
        type: "service.crashLooping",
        ...facts,
        message: say.crashLooping(instance.service, message),
      });
    parts.gone(instance);
  }

  function ended(instance: Instance, lastExit: LastExit): void {
    const drainMs = sinceMs(instance.signalledMs);
    const event = instance.wasKilled ? "killed" : "stopped";
    const message = say[event](instance.id, instance.cause, describeExit(lastExit, recorded));
    // One write: a later owld finds it gone and told of, or neither.
    parts.store.atomically(() => {
      book.move(instance.id, "ended", { lastExit });
      if (instance.signalledMs !== null && !instance.wasKilled) parts.measures.noteDrain(instance.service, drainMs);
      journal.write({
        type: `instance.${event}`,
        service: instance.service,
        instance: instance.id,
        message,
        data: { lastExit, drainMs },
      });
      parts.milestone(instance, event, drainMs);
      forget(instance);
    });
    parts.gone(instance);
  }

  /** The record and what lies around of a process that is gone. */
  function forget(instance: Instance): void {
    book.remove(instance.id);
    if (instance.target !== null && "socket" in instance.target) rmSync(instance.target.socket, { force: true });
    rmSync(exitFifo(paths, instance.id), { force: true });
  }

  function noteRouted(instance: Instance): void {
    const routed = hasRoutes(instance) ? parts.routing.isRouted(instance.id) : true;
    if (instance.routed === routed) return;
    book.set(instance.id, { routed });
    if (!routed || !hasRoutes(instance)) return;
    journal.write({
      type: "instance.routed",
      service: instance.service,
      instance: instance.id,
      message: say.routed(instance.id),
    });
    parts.milestone(instance, "routed", sinceMs(instance.startedMs));
  }

  function overdue(instance: Instance): void {
    const { id, service } = instance;
    if (instance.deadline?.kind === "health") {
      const limit = parts.config().rollout.healthTimeoutMs / 1_000;
      const message = say.late(id, limit);
      book.move(id, "tooLate", {
        deadline: { kind: "unhealthy", atMs: clock.monotonicMs() + UNHEALTHY_LIMIT_MS },
        cause: message,
      });
      journal.write({ type: "instance.unhealthy", service, instance: id, message });
    } else if (instance.deadline?.kind === "unhealthy") {
      const cause = instance.replaceCause ?? recorded.cause.unhealthy(UNHEALTHY_LIMIT_MS / 1_000);
      const { delayMs, place } = afterCrash(instance, clock.monotonicMs());
      const replaced = { replaceCause: cause, replaceFromMs: clock.monotonicMs() + delayMs, ...place };
      book.set(id, instance.readyMs === null ? { deadline: null } : { deadline: null, ...replaced });
      // Never ready, so it serves nobody: it goes at once, as if it had crashed.
      if (instance.readyMs === null) departure.killGroup(instance);
    }
  }

  return {
    start,
    leave: departure.leave,
    discard(id) {
      const instance = book.get(id);
      if (instance !== null && !isLiving(instance)) forget(instance);
    },
    kill: departure.kill,
    attach,
    exited,
    passed(id) {
      const before = book.get(id);
      if (before === null || before.wanted === "down") return;
      const now = clock.monotonicMs();
      const first = before.readyMs === null;
      const cause = first ? before.cause : null;
      const tookMs = sinceMs(before.startedMs);
      parts.store.atomically(() => {
        const moved = book.move(id, "passed", { readyMs: before.readyMs ?? now, deadline: null, cause });
        if (moved === null) return;
        if (first) parts.measures.noteStart(before.service, tookMs);
        journal.write({
          type: "instance.ready",
          service: before.service,
          instance: id,
          message: say.ready(id),
          data: { tookMs },
        });
        parts.milestone(moved, "ready", tookMs);
      });
    },
    failing(id, why) {
      const now = clock.monotonicMs();
      const deadline = { kind: "unhealthy", atMs: now + UNHEALTHY_LIMIT_MS } as const;
      const moved = book.move(id, "failing", { deadline });
      if (moved === null) return;
      journal.write({
        type: "instance.unhealthy",
        service: moved.service,
        instance: id,
        message: say.failing(id, why),
      });
    },
    advance() {
      for (const instance of book.all()) {
        if (instance.wanted === "down" && isLiving(instance)) departure.advance(instance, running.has(instance.id));
        else if (instance.state === "ready" || instance.routed) noteRouted(instance);
      }
    },
    tick() {
      oomKills.look();
      for (const instance of book.all()) {
        if (instance.wanted === "up" && isDue(instance, clock.monotonicMs())) overdue(instance);
      }
      for (const id of [...emptying]) {
        const instance = book.get(id);
        if (instance?.identity && table.groupMembers(instance.identity).length > 0) continue;
        emptying.delete(id);
        if (instance !== null)
          ended(instance, instance.lastExit ?? exitOf({ known: false }, false, false, isoTime(clock.now())));
      }
    },
    setAside(id, aside) {
      const instance = book.set(id, { aside });
      if (instance === null) return;
      const message = aside ? say.aside(id, parts.confirmMs() / 1_000) : say.back(id);
      journal.write({
        type: aside ? "instance.setAside" : "instance.takenBack",
        service: instance.service,
        instance: id,
        message,
      });
    },
    letGo() {
      for (const process of running.values()) process.release();
      running.clear();
      departure.stop();
    },
  };
}
