// Checks the health of every living instance, one loop each: every 100 ms until it is ready, then by its interval.
// Invariant: a loop ends with its instance, and owld's end ends all; results are told, never acted on here.

import type { ServiceConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import {
  afterCheck,
  FAILURES_ON_TRIAL,
  FAILURES_TO_LEAVE,
  STARTING_INTERVAL_MS,
  TRIAL_INTERVAL_MS,
} from "../core/health.ts";
import { type Instance, isLiving } from "../core/instance.ts";
import type { HealthProbe, ProbeResult } from "../ports.ts";

/** Between checks of an instance that was taken out: back in by one passed check, so it is looked at often. */
const UNHEALTHY_INTERVAL_MS = 1_000;

/** A check that waits so long for its answer is not yet passed. */
const SLOW_CHECK_MS = 300;

type SeenProbe = ProbeResult & { readonly at: string };

export interface HealthWatch {
  watch(id: string): void;
  forget(id: string): void;
  last(id: string): SeenProbe | null;
  /** Its newest check has failed, or has waited for its answer for long. */
  doubts(id: string): boolean;
  stop(): Promise<void>;
}

interface HealthWatchParts {
  readonly clock: Clock;
  readonly probe: HealthProbe;
  readonly instance: (id: string) => Instance | null;
  readonly service: (instance: Instance) => ServiceConfig | null;
  /** It must stand before its old one ends: it is looked at often. */
  readonly onTrial: (instance: Instance) => boolean;
  /** Environment of a command check. */
  readonly env: (instance: Instance) => Readonly<Record<string, string>>;
  readonly passed: (id: string) => void;
  readonly failing: (id: string, why: string) => void;
  readonly broken: (error: Error) => void;
}

export function createHealthWatch(parts: HealthWatchParts): HealthWatch {
  const loops = new Map<string, { readonly end: AbortController; readonly done: Promise<void> }>();
  const results = new Map<string, SeenProbe>();
  const askedMs = new Map<string, number>();

  async function run(id: string, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const instance = parts.instance(id);
      const service = instance === null ? null : parts.service(instance);
      if (instance === null || service === null || !isLiving(instance)) return;
      const { check, timeoutMs } = service.health;
      if (check.kind === "uptime") {
        if (instance.state !== "starting") return;
        const restMs = instance.startedMs + check.uptimeMs - parts.clock.monotonicMs();
        if (restMs > 0) await parts.clock.sleep(restMs, signal);
        if (!signal.aborted) parts.passed(id);
        return;
      }
      const target = { instance: id, target: instance.target, env: parts.env(instance), cwd: service.cwd };
      askedMs.set(id, parts.clock.monotonicMs());
      const result = await parts.probe.check(target, check, timeoutMs, signal);
      if (signal.aborted) return;
      askedMs.delete(id);
      results.set(id, { ...result, at: isoTime(parts.clock.now()) });
      const now = parts.instance(id);
      if (now === null) return;
      const onTrial = parts.onTrial(now);
      const verdict = afterCheck(now.state, failures, result.ok, onTrial ? FAILURES_ON_TRIAL : FAILURES_TO_LEAVE);
      failures = verdict.failures;
      if (verdict.event === "passed") parts.passed(id);
      if (verdict.event === "failing") parts.failing(id, result.error ?? "");
      const intervalMs = Math.min(service.health.intervalMs, onTrial ? TRIAL_INTERVAL_MS : Number.POSITIVE_INFINITY);
      await parts.clock.sleep(pauseMs(parts.instance(id)?.state ?? "exited", intervalMs), signal);
    }
  }

  function forget(id: string): void {
    loops.get(id)?.end.abort();
    loops.delete(id);
    results.delete(id);
    askedMs.delete(id);
  }

  return {
    watch(id) {
      loops.get(id)?.end.abort();
      const end = new AbortController();
      const done = run(id, end.signal).catch((error: unknown) => {
        if (!end.signal.aborted) parts.broken(asError(error));
      });
      loops.set(id, { end, done });
    },
    forget,
    last: (id) => results.get(id) ?? null,
    doubts(id) {
      const waitsMs = parts.clock.monotonicMs() - (askedMs.get(id) ?? Number.POSITIVE_INFINITY);
      return results.get(id)?.ok === false || waitsMs > SLOW_CHECK_MS;
    },
    async stop() {
      const all = [...loops.values()];
      for (const { end } of all) end.abort();
      loops.clear();
      await Promise.all(all.map(({ done }) => done));
    },
  };
}

function pauseMs(state: Instance["state"], intervalMs: number): number {
  if (state === "starting") return STARTING_INTERVAL_MS;
  return state === "unhealthy" ? Math.min(intervalMs, UNHEALTHY_INTERVAL_MS) : intervalMs;
}
