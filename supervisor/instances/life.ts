// The life of every instance, the proxy's too: started, watched, sent away, seen off. What `decide` asked for is done
// here; what a sort of process has of its own stands in its Program.
// Invariants: a record is written before its process exists and removed after it is gone; SIGTERM goes to the leader,
// once, out of the table only; SIGKILL goes to the group; a deadline is a stored instant that every tick looks at.

import { rmSync } from "node:fs";
import type { Logger } from "pino";
import type { LastExit } from "../../config/control-api.ts";
import { asError, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import { describeExit, exitOf } from "../core/exit-words.ts";
import { counterOf, type Instance, isDue, isLiving, newInstance } from "../core/instance.ts";
import { afterCrash, CALM_PLACE } from "../core/restart-policy.ts";
import type { Milestone } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import type { Action } from "../core/world.ts";
import type { Measures } from "../observe/measures.ts";
import type { ExitReport, OomKills, ProcessTable, ProxySet, RunningProcess } from "../ports.ts";
import type { Store } from "../state/store.ts";
import type { InstanceBook } from "./book.ts";
import { createDeparture, KILL_AGAIN_MS } from "./departure.ts";
import { exitFifo } from "./launch.ts";
import type { Program } from "./program.ts";
import type { Routing } from "./routing.ts";

interface InstanceParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly book: InstanceBook;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly measures: Measures;
  readonly table: ProcessTable;
  readonly proxies: Pick<ProxySet, "idle" | "moveStreams">;
  readonly routing: Routing;
  readonly paths: HomePaths;
  readonly bootId: string;
  /** By the name of the service. */
  readonly programOf: (service: string) => Program;
  /** How long an instance may take to be idle, once out of the table. */
  readonly idleTimeoutMs: () => number;
  readonly oomKills: OomKills;
  /** How long the new ones of the running rollout must stand. */
  readonly confirmMs: () => number;
  /** Tells the rollouts what happened to an instance. */
  readonly milestone: (instance: Instance, event: Milestone, elapsedMs: number, message?: string) => void;
  /** A process is gone for good (its worker row, what it left behind). */
  readonly gone: (instance: Instance) => void;
}

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
  /** Those of the service that wait for their next start wait no longer. */
  hurry(service: string): void;
  /** Moves on whoever is on the way out, and notes who is routed by now. */
  advance(): void;
  /** Looks at every deadline. */
  tick(): void;
  /** Out of the table until its successor has stood, or back in. */
  setAside(id: string, aside: boolean): void;
  /** Everything lives on without us. */
  letGo(): void;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: every transition of an instance, in one closure so that no other part can make one.
export function createInstances(parts: InstanceParts): Instances {
  const { clock, book, table, paths, oomKills, programOf } = parts;
  const { recorded } = parts.record;
  const say = recorded.instance;
  const running = new Map<string, RunningProcess>();
  const departure = createDeparture(parts);
  /** Leader gone, group killed, not yet empty. */
  const emptying = new Set<string>();

  const sinceMs = (at: number | null): number => (at === null ? 0 : Math.max(0, Math.round(clock.monotonicMs() - at)));

  function start(action: Extract<Action, { kind: "start" }>): void {
    const { service, replaces, rollout } = action;
    const program = programOf(service);
    const number = parts.store.next(counterOf(service));
    const id = `${service}-${number}`;
    const blueprint = program.blueprint(id, rollout);
    if (blueprint === null) return;
    const followed = action.follows === null ? null : book.get(action.follows);
    // What is replaced by itself, not by a rollout, leaves its place's record to its successor.
    const before = followed ?? (rollout === null && replaces !== null ? book.get(replaces) : null);
    const { attempt, crashedMs, looping } = before ?? CALM_PLACE;
    const now = clock.monotonicMs();
    const instance = newInstance({
      id,
      service,
      number,
      ...blueprint,
      startedAt: clock.now(),
      startedMs: now,
      bootId: parts.bootId,
      deadline: { kind: "health", atMs: now + program.startMs(rollout) },
      rollout,
      replaces,
      restarts: before?.restarts ?? 0,
      attempt,
      crashedMs,
      looping,
      lastExit: followed?.lastExit ?? null,
    });
    parts.store.atomically(() => {
      parts.milestone(instance, "start", 0);
      book.add(instance, say.starting(id));
      if (followed !== null) forget(followed);
      parts.milestone(instance, "starting", 0);
    });
    void launch(instance, program);
  }

  async function launch(instance: Instance, program: Program): Promise<void> {
    const { id } = instance;
    try {
      const process = await program.launch(instance, (changes) => book.set(id, changes));
      book.set(id, { identity: process.identity });
      attach(id, process);
    } catch (caught) {
      const error = asError(caught);
      const next = error instanceof OwlError && error.next !== undefined ? ` ${error.next}` : "";
      exited(id, { known: true, code: null, signal: null }, `${error.message}${next}`);
    }
  }

  function attach(id: string, process: RunningProcess): void {
    running.set(id, process);
    // Settled by `exited` alone; it never rejects.
    void process.exited.then((report) => {
      if (running.get(id) === process) exited(id, report);
    });
    const instance = book.get(id);
    if (instance !== null) programOf(instance.service).watch(instance, process);
  }

  function exited(id: string, report: ExitReport, failure: string | null = null): void {
    running.delete(id);
    departure.forget(id);
    const instance = book.get(id);
    if (instance === null || !isLiving(instance)) return;
    const program = programOf(instance.service);
    program.gone(instance);
    const group = instance.identity === null ? "gone" : departure.killGroup(instance);
    const lastExit = exitOf(report, instance.wasKilled, oomKills.lately(), isoTime(clock.now()));
    if (instance.wanted === "up") {
      crashed(instance, lastExit, failure ?? (instance.readyMs === null ? program.lastWords(instance) : null));
    } else if (group === "sent") {
      book.set(id, { lastExit });
      emptying.add(id);
    } else {
      ended(instance, lastExit);
    }
  }

  function crashed(instance: Instance, lastExit: LastExit, failure: string | null): void {
    const { id, service } = instance;
    const now = clock.monotonicMs();
    const verdict = afterCrash(instance, now);
    const how = failure?.replace(/\.$/, "") ?? describeExit(lastExit, recorded);
    const next = verdict.reason(recorded);
    const message = failure === null ? say.crashed(id, how, next) : say.notStarted(id, how, next);
    const changes = {
      deadline: { kind: "backoff", atMs: now + verdict.delayMs },
      restarts: instance.restarts + 1,
      ...verdict.place,
      aside: false,
      routed: false,
      lastExit,
      cause: failure ?? instance.cause,
    } as const;
    book.move(id, "crashed", message, changes, { lastExit });
    if (verdict.place.looping && !instance.looping)
      book.note(instance, "service.crashLooping", say.crashLooping(service, message));
    parts.gone(instance);
  }

  function ended(instance: Instance, lastExit: LastExit): void {
    const drainMs = sinceMs(instance.signalledMs);
    const event = instance.wasKilled ? "killed" : "stopped";
    const message = say[event](instance.id, instance.cause, describeExit(lastExit, recorded));
    // One write: a later owld finds it gone and told of, or neither.
    parts.store.atomically(() => {
      book.move(instance.id, "ended", message, { lastExit }, { lastExit, drainMs });
      if (instance.signalledMs !== null && !instance.wasKilled) parts.measures.noteDrain(instance.service, drainMs);
      parts.milestone(instance, event, drainMs);
      forget(instance);
    });
    parts.gone(instance);
  }

  /** The record and what lies around of a process that is gone. */
  function forget(instance: Instance): void {
    book.remove(instance.id);
    programOf(instance.service).cleanUp(instance);
    rmSync(exitFifo(paths, instance.id), { force: true });
  }

  function noteRouted(instance: Instance): void {
    const { id } = instance;
    const byTable = programOf(instance.service).isRouted();
    const routed = byTable ? parts.routing.isRouted(id) : true;
    if (instance.routed === routed) return;
    book.set(id, { routed });
    if (!routed || !byTable) return;
    book.note(instance, "instance.routed", say.routed(id));
    parts.milestone(instance, "routed", sinceMs(instance.startedMs));
  }

  function overdue(instance: Instance): void {
    const { id, deadline } = instance;
    const program = programOf(instance.service);
    const unhealthy = { kind: "unhealthy", atMs: clock.monotonicMs() + program.unhealthyMs } as const;
    if (deadline?.kind === "health") {
      const message = say.late(id, program.startMs(instance.rollout) / 1_000, program.lastCheck(instance));
      book.move(id, "tooLate", message, { deadline: unhealthy, cause: message });
    } else if (deadline?.kind === "unhealthy") {
      // Never ready (or deaf), so it serves nobody: it goes at once, as if it had crashed.
      const isUseless = instance.readyMs === null || program.isDeaf(instance);
      if (isUseless) {
        book.set(id, { deadline: { ...deadline, atMs: clock.monotonicMs() + KILL_AGAIN_MS } });
        departure.killGroup(instance);
      } else {
        const { delayMs, place } = afterCrash(instance, clock.monotonicMs());
        const replaceCause = instance.replaceCause ?? program.unhealthyCause;
        book.set(id, { deadline: null, replaceCause, replaceFromMs: clock.monotonicMs() + delayMs, ...place });
      }
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
        const changes = { readyMs: before.readyMs ?? now, deadline: null, cause };
        if (!book.move(id, "passed", say.ready(id), changes, { tookMs }).moved) return;
        if (first) parts.measures.noteStart(before.service, tookMs);
        parts.milestone(before, "ready", tookMs);
      });
    },
    failing(id, why) {
      const instance = book.get(id);
      if (instance === null) return;
      const message = say.failing(id, why);
      // On its way out it will not get better.
      if (instance.wanted === "down") departure.kill(id, why);
      const atMs = clock.monotonicMs() + programOf(instance.service).unhealthyMs;
      book.move(id, "failing", message, { deadline: { kind: "unhealthy", atMs } });
    },
    hurry(service) {
      const waiting = book.all().filter((one) => one.service === service && one.state === "backoff");
      for (const { id } of waiting) book.set(id, { attempt: 0, crashedMs: [], deadline: null });
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
      const [type, message] = aside
        ? ["instance.setAside", say.aside(id, parts.confirmMs() / 1_000)]
        : ["instance.takenBack", say.back(id)];
      book.note(instance, type, message);
    },
    letGo() {
      for (const process of running.values()) process.release();
      running.clear();
      departure.stop();
    },
  };
}
