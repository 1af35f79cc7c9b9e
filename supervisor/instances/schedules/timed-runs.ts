// Services with a schedule: their processes are begun when it is time, watched, ended at their limits. They are no
// instances: nobody waits for them and nothing replaces them.
// Invariants: a run is on record before its process is made, so that no owld makes it twice; the next owld takes over
// what lives and says of the rest that it is lost; a group is gone before its run has ended.

import { rmSync } from "node:fs";
import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../../../config/config.ts";
import type { ScheduleStatus } from "../../../config/control-api.ts";
import { type CronLine, parseCronLine } from "../../../config/cron-line.ts";
import { asError } from "../../../config/errors.ts";
import type { HomePaths } from "../../../config/home.ts";
import { createLoop } from "../../../config/running.ts";
import { type Clock, isoTime, type MonotonicMs, type WallMs } from "../../../config/time.ts";
import { formatDuration, formatSize } from "../../../config/units.ts";
import { counterOf } from "../../core/instance.ts";
import { Refusal, wordsOf } from "../../core/text/refusal.ts";
import type { Sentence, Text } from "../../core/text/text.ts";
import type { ExitReport, MarkedProcess, ProcessTable, RunningProcess, Spawner, UsageSampler } from "../../ports.ts";
import type { Journal } from "../../rollouts/journal.ts";
import { endFact, keepFact, readFact } from "../../state/facts.ts";
import type { Store } from "../../state/store.ts";
import { exitFifo, launchRequest, secretFolder } from "../launch.ts";
import type { ServiceWishes } from "../wishes.ts";
import { dueNow, EMPTY, type ScheduleRecord, type TimedEnd, type TimedRun } from "./record.ts";

const LOOK_MS = 500;
const SAMPLE_MS = 5_000;

interface TimedRunParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly journal: Pick<Journal, "write">;
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly runUsage: Pick<UsageSampler, "sample">;
  readonly wishes: Pick<ServiceWishes, "isStopped">;
  readonly paths: HomePaths;
  readonly mark: string;
  readonly bootId: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: () => Config;
  /** Version of Owl itself, for what was never deployed. */
  readonly release: () => string;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
}

export interface TimedRuns {
  /** Takes over what an earlier owld began; to be called before anything else is adopted. */
  adopt(marked: readonly MarkedProcess[]): void;
  start(): Promise<void>;
  /** No more are begun; those that go on are told to end. Resolves when they are gone. */
  stop(): Promise<void>;
  /** owld goes, they stay. */
  letGo(): Promise<void>;
  killAll(): void;
  /** Those that go on. */
  all(): readonly TimedRun[];
  /** Tells that one to end; answers its grace, null when there is none of that name. */
  end(id: string): number | null;
  /** Begins one at once. Throws `run.busy` while one goes on. */
  runNow(service: ServiceConfig): { readonly id: string; readonly ended: Promise<TimedEnd> };
  status(service: ServiceConfig): ScheduleStatus | null;
  /** Services whose last run did not succeed. */
  warnings(): readonly Sentence[];
}

/** What this owld knows of one that goes on. */
interface Watched {
  readonly running: RunningProcess | null;
  readonly startedMs: MonotonicMs;
  signalledMs: MonotonicMs | null;
  readonly ended: PromiseWithResolvers<TimedEnd>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state, from the first look to the last exit.
export function createTimedRuns(parts: TimedRunParts): TimedRuns {
  const { clock, store, table, paths, journal } = parts;
  const words = parts.record.recorded.schedule;
  const watched = new Map<string, Watched>();
  const lines = new Map<string, CronLine | null>();
  let stopping: string | null = null;
  let sampledMs = Number.NEGATIVE_INFINITY;

  const of = (name: string): ScheduleRecord => readFact(store, `schedule ${name}`) ?? EMPTY;
  const put = (name: string, changes: Partial<ScheduleRecord>): void =>
    keepFact(store, `schedule ${name}`, { ...of(name), ...changes });
  const timed = (): readonly ServiceConfig[] => parts.config().services.filter((one) => one.schedule !== undefined);
  const names = (): readonly string[] =>
    [...store.all("fact").keys()].flatMap((key) => /^schedule (.+)$/.exec(String(key))?.[1] ?? []);
  const all = (): readonly TimedRun[] => names().flatMap((name) => of(name).run ?? []);
  const at = (ms: WallMs): string => isoTime(ms).slice(0, 16).replace("T", " ");

  function lineOf({ cron, zone }: NonNullable<ServiceConfig["schedule"]>): CronLine | null {
    const key = `${cron} ${zone}`;
    const known = lines.get(key);
    if (known !== undefined) return known;
    const read = parseCronLine(cron, zone);
    const line = "next" in read ? read : null;
    lines.set(key, line);
    return line;
  }

  function begin(service: ServiceConfig, tickAt: WallMs | null): string {
    const id = `${service.name}-${store.next(counterOf(service.name))}`;
    const run: TimedRun = {
      id,
      service: service.name,
      release: service.code?.release ?? parts.release(),
      tickAt,
      startedAt: clock.now(),
      bootId: parts.bootId,
      identity: null,
      stop: { graceMs: service.stop.graceMs, signal: service.stop.signal },
      limitMs: service.schedule?.limitMs ?? 0,
      memoryLimitBytes: service.memoryLimitBytes,
      cause: null,
    };
    put(service.name, { run });
    const message = tickAt === null ? words.startedByHand(id) : words.started(id, at(tickAt));
    journal.write({ type: "schedule.started", service: service.name, instance: id, message });
    watch(id, null);
    launch(service, run).catch((error: unknown) => {
      const { sentence } = wordsOf(asError(error), parts.record);
      ended(run, { outcome: "failed", how: sentence, code: null, signal: null });
    });
    return id;
  }

  async function launch(service: ServiceConfig, { id, release }: TimedRun): Promise<void> {
    const { mark, environment } = parts;
    const request = launchRequest({ service, id, target: null, paths, mark, release, app: null, environment });
    attach(service.name, await parts.spawner.spawn(request));
  }

  function watch(id: string, running: RunningProcess | null, agoMs = 0): Watched {
    const kept = watched.get(id);
    const one: Watched = {
      running,
      startedMs: kept?.startedMs ?? clock.monotonicMs() - agoMs,
      signalledMs: kept?.signalledMs ?? null,
      ended: kept?.ended ?? Promise.withResolvers(),
    };
    watched.set(id, one);
    return one;
  }

  function attach(name: string, running: RunningProcess): void {
    const { run } = of(name);
    if (run === null) return;
    const now = { ...run, identity: running.identity };
    put(name, { run: now });
    watch(run.id, running, Math.max(0, clock.now() - run.startedAt));
    void running.exited.then((report) => {
      table.killGroup(running.identity);
      ended(of(name).run ?? now, outcomeOf(report));
    });
  }

  function outcomeOf(report: ExitReport): Pick<TimedEnd, "outcome" | "how" | "code" | "signal"> {
    const t = parts.record.recorded.rollout;
    if (!report.known) return { outcome: "lost", how: t.exitUnknown, code: null, signal: null };
    const { code, signal } = report;
    return { outcome: code === 0 ? "succeeded" : "failed", how: signal ?? t.exitCode(code), code, signal };
  }

  function ended(
    run: TimedRun,
    { outcome, how, ...rest }: Pick<TimedEnd, "outcome" | "how" | "code" | "signal">,
  ): void {
    const { id, service, tickAt, startedAt, cause } = run;
    const told = cause === null ? how : `${cause}; ${how}`;
    const last: TimedEnd = {
      ...{ id, tickAt, startedAt, endedAt: clock.now(), how: told, ...rest },
      outcome: cause === null ? outcome : "failed",
    };
    put(service, { run: null, last });
    rmSync(exitFifo(paths, id), { force: true });
    rmSync(secretFolder(paths, id), { recursive: true, force: true });
    const type = last.outcome === "succeeded" ? "schedule.ended" : "schedule.failed";
    journal.write({ type, service, instance: id, message: words[last.outcome](id, told) });
    const { ended: heard } = watched.get(id) ?? watch(id, null);
    watched.delete(id);
    heard.resolve(last);
  }

  /** Its signal now, its group's end when the grace is over. */
  function tell(run: TimedRun, cause: string): void {
    const one = watched.get(run.id);
    if (run.identity === null || one === undefined || one.signalledMs !== null) return;
    put(run.service, { run: { ...run, cause: run.cause ?? cause } });
    one.signalledMs = clock.monotonicMs();
    table.signalLeader(run.identity, run.stop.signal);
  }

  function hold(run: TimedRun): void {
    const one = watched.get(run.id);
    if (run.identity === null || one === undefined) return;
    const now = clock.monotonicMs();
    const service = parts.config().services.find(({ name }) => name === run.service);
    if (one.signalledMs !== null) {
      if (now - one.signalledMs >= run.stop.graceMs) table.killGroup(run.identity);
    } else if (stopping !== null) tell(run, stopping);
    else if (run.cause !== null) tell(run, run.cause);
    else if (now - one.startedMs >= run.limitMs) tell(run, words.late(formatDuration(run.limitMs)));
    else if (service !== undefined && parts.wishes.isStopped(service)) tell(run, words.stopped);
  }

  async function weigh(): Promise<void> {
    const limited = all().filter((run) => run.memoryLimitBytes !== null && run.identity !== null);
    if (limited.length === 0 || clock.monotonicMs() - sampledMs < SAMPLE_MS) return;
    sampledMs = clock.monotonicMs();
    const usage = await parts.runUsage.sample(limited.flatMap(({ identity }) => identity ?? []));
    for (const { id, memoryLimitBytes, identity } of limited) {
      const run = all().find((one) => one.id === id);
      const rssBytes = usage.get(identity?.pid ?? 0)?.rssBytes ?? 0;
      if (run === undefined || memoryLimitBytes === null || rssBytes <= memoryLimitBytes) continue;
      tell(run, parts.record.recorded.cause.memory(formatSize(rssBytes), formatSize(memoryLimitBytes)));
    }
  }

  function take(service: ServiceConfig, nowMs: WallMs): void {
    const { name, schedule } = service;
    const line = schedule === undefined ? null : lineOf(schedule);
    if (schedule === undefined || line === null) return;
    const kept = of(name);
    if (parts.wishes.isStopped(service)) {
      // Begun anew when it is started again: what came meanwhile was not missed.
      if (kept.line !== "") put(name, { line: "", nextAt: null, waitingAt: null });
      return;
    }
    const { record, start, missed, skippedAt } = dueNow(kept, schedule, line, nowMs);
    if (record === kept) return;
    const note = (type: string, message: string) => journal.write({ type, service: name, message });
    store.atomically(() => {
      put(name, record);
      if (missed !== null) note("schedule.missed", words.missed(name, at(missed.fromAt)));
      if (skippedAt !== null) note("schedule.skipped", words.skipped(name, at(skippedAt)));
      if (start !== null) begin(service, start);
    });
  }

  const looking = createLoop({
    clock,
    everyMs: LOOK_MS,
    atOnce: true,
    async runOnce() {
      for (const run of all()) hold(run);
      await weigh();
      // What cannot be put on record is not begun.
      if (stopping !== null || store.failing() !== null) return;
      const services = timed();
      for (const name of names())
        if (of(name).run === null && !services.some((one) => one.name === name)) endFact(store, `schedule ${name}`);
      for (const service of services) take(service, clock.now());
    },
    failed: (error) => parts.log.error({ err: error }, "the schedules were not looked at"),
  });

  return {
    all,
    adopt(marked) {
      for (const run of all()) {
        const found = marked.find(({ leader, instance }) => leader && instance === run.id)?.identity ?? null;
        const identity = run.bootId === parts.bootId ? (run.identity ?? found) : null;
        const running = identity === null ? null : parts.spawner.adopt(identity, exitFifo(paths, run.id));
        if (running === null) ended(run, outcomeOf({ known: false }));
        else attach(run.service, running);
      }
    },
    start: looking.start,
    async stop() {
      stopping = parts.record.recorded.cause.owldStops;
      const left = all().flatMap(({ id }) => watched.get(id)?.ended.promise ?? []);
      await Promise.all(left);
      await looking.stop();
    },
    async letGo() {
      await looking.stop();
      for (const { running } of watched.values()) running?.release();
    },
    killAll() {
      for (const { identity } of all()) if (identity !== null) table.killGroup(identity);
    },
    end(id) {
      const run = all().find((one) => one.id === id);
      if (run !== undefined) tell(run, parts.record.recorded.cause.byOperator);
      return run?.stop.graceMs ?? null;
    },
    runNow(service) {
      const { run } = of(service.name);
      if (run !== null)
        throw new Refusal("run.busy", ({ refused }) => refused.run.goesOn(service.name, run.id), {
          data: { run: run.id },
        });
      const id = begin(service, null);
      return { id, ended: (watched.get(id) ?? watch(id, null)).ended.promise };
    },
    status(service) {
      if (service.schedule === undefined) return null;
      const { nextAt, run, last } = of(service.name);
      return {
        cron: service.schedule.cron,
        zone: service.schedule.zone,
        nextAt: nextAt === null ? null : isoTime(nextAt),
        running:
          run === null ? null : { id: run.id, pid: run.identity?.pid ?? null, startedAt: isoTime(run.startedAt) },
        last:
          last === null
            ? null
            : {
                ...{ id: last.id, outcome: last.outcome, how: last.how },
                ...{ startedAt: isoTime(last.startedAt), endedAt: isoTime(last.endedAt) },
              },
      };
    },
    warnings() {
      return timed().flatMap(({ name }): Sentence[] => {
        const { last } = of(name);
        if (last === null || last.outcome === "succeeded") return [];
        return [({ warnings }) => warnings.runFailed(name, last.id, last.how)];
      });
    },
  };
}
