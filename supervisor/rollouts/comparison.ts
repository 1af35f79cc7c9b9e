// Looks, while a rollout's new instances stand their time, whether they answer worse than the old ones did.
// Invariant: the old ones' figures are kept from before they were set aside, for the proxy forgets who is idle and out.

import type { Config } from "../../config/config.ts";
import type { ProxyCounters, UpstreamCounters } from "../../config/proxy-feed.ts";
import type { Clock, MonotonicMs } from "../../config/time.ts";
import type { Instance } from "../core/instance.ts";
import type { Text } from "../core/text/text.ts";
import type { RolloutFacts, World } from "../core/world.ts";
import { answersWorse, failsLately, staysSilent, waitingAt } from "../core/worse.ts";
import type { Lateness } from "../observe/lateness.ts";
import type { ProxySet } from "../ports.ts";

type Judged = Pick<RolloutFacts, "worse" | "doubtful">;

export interface Comparison {
  /** Asks for new counters while a rollout is being confirmed; call it often. */
  tick(rollout: RolloutFacts | null): void;
  /** Who answers worse, and who merely may: such a one has not stood yet. */
  judge(rollout: RolloutFacts, instances: World["instances"]): Judged;
}

interface ComparisonParts {
  readonly clock: Clock;
  /** How late the machine itself is by: no fault of what runs on it. */
  readonly lateness: Lateness;
  readonly proxies: { readonly counters: () => ProxyCounters };
  /** Never rejects, bounded. */
  readonly refreshCounters: () => Promise<void>;
  readonly config: () => { readonly rollout: Pick<Config["rollout"], "worse"> };
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly changed: () => void;
}

/** So long answers must have been slower, whatever has come meanwhile: every single look may fall into a bad moment. */
const SLOW_MS = 1_000;
/** A process that has just begun answers slower for so long: it compiles what it runs. */
const LEAST_WARM_MS = 2_000;
/** Figures come at least so often. */
const STALE_MS = 1_000;
/** The newest answers are those of so long. */
const NEWEST_MS = 2_000;

/** What the new ones of a service had answered at a moment. */
interface Seen {
  readonly atMs: MonotonicMs;
  readonly counted: readonly UpstreamCounters[];
}

export function createComparison(parts: ComparisonParts): Comparison {
  /** Targets of the rollout by id, at their fullest. */
  let old = new Map<string, UpstreamCounters>();
  /** The rollout's new ones by id, as they were when they had become warm. */
  let cold = new Map<string, UpstreamCounters>();
  let of: string | null = null;
  /** Since when a service's new ones are slower. */
  let slowSince = new Map<string, number>();
  /** By service, oldest first, one whenever figures changed. */
  let newest = new Map<string, readonly Seen[]>();
  /** Since when requests wait at a service's new ones and none is answered. */
  let silent = new Map<string, { readonly sinceMs: MonotonicMs; readonly answers: number }>();
  let asking = false;

  function note(rollout: RolloutFacts, upstreams: readonly UpstreamCounters[]): void {
    if (of !== rollout.id)
      [old, cold, slowSince, newest, silent] = [new Map(), new Map(), new Map(), new Map(), new Map()];
    of = rollout.id;
    const targets = new Set(rollout.targets);
    for (const one of upstreams) {
      if (targets.has(one.id) && one.requests >= (old.get(one.id)?.requests ?? 0)) old.set(one.id, one);
    }
  }

  /** Answer times since the instance is warm; null: it is not yet. */
  function sinceWarm(one: Instance, now: UpstreamCounters, confirmMs: number): UpstreamCounters["latency"] | null {
    const runMs = one.readyMs === null ? 0 : parts.clock.monotonicMs() - one.readyMs;
    if (runMs < Math.max(confirmMs / 2, LEAST_WARM_MS)) return null;
    const before = cold.get(one.id) ?? now;
    cold.set(one.id, before);
    return Object.fromEntries(
      Object.entries(now.latency).map(([bound, count]) => [bound, count - (before.latency[bound] ?? 0)]),
    );
  }

  /** Keeps what is new, and answers since when nobody was answered. */
  function look(service: string, counted: readonly UpstreamCounters[]): { earlier: Seen["counted"]; silentMs: number } {
    const atMs = parts.clock.monotonicMs();
    const before = newest.get(service) ?? [];
    const last = before.at(-1);
    const isNew = last === undefined || sumOf(last.counted) !== sumOf(counted);
    const kept = isNew ? [...before.filter((one) => atMs - one.atMs <= NEWEST_MS), { atMs, counted }] : before;
    newest.set(service, kept);
    if (isNew) {
      const { waits, answers } = waitingAt(counted);
      if (!waits) silent.delete(service);
      else if (silent.get(service)?.answers !== answers) silent.set(service, { sinceMs: atMs, answers });
    }
    // Unchanged, they may be as old as that.
    const knownMs = Math.max(kept.at(-1)?.atMs ?? atMs, atMs - STALE_MS);
    return { earlier: kept[0]?.counted ?? [], silentMs: knownMs - (silent.get(service)?.sinceMs ?? knownMs) };
  }

  return {
    tick(rollout) {
      if (rollout === null || rollout.confirmMs === 0) {
        parts.lateness.end();
        return;
      }
      parts.lateness.begin();
      if (asking) return;
      asking = true;
      // Settled whatever happens: it never rejects.
      void parts.refreshCounters().then(() => {
        asking = false;
        parts.changed();
      });
    },
    judge(rollout, instances) {
      const doubtful: string[] = [];
      if (rollout.confirmMs === 0 || rollout.failure !== null) return { worse: null, doubtful };
      const { upstreams } = parts.proxies.counters();
      note(rollout, upstreams);
      const fresh = instances.filter((one) => one.rollout === rollout.id && one.wanted === "up");
      for (const service of new Set(fresh.map((one) => one.service))) {
        const own = fresh.filter((one) => one.service === service);
        const counted = upstreams.filter(({ id }) => own.some((one) => one.id === id));
        const warm = own
          .map((one) => {
            const now = counted.find(({ id }) => id === one.id);
            return now === undefined ? null : sinceWarm(one, now, rollout.confirmMs);
          })
          .filter((latency) => latency !== null);
        const before = instances.filter((one) => one.service === service).flatMap(({ id }) => old.get(id) ?? []);
        const { worse: limits } = parts.config().rollout;
        const lateMs = parts.lateness.p95Ms();
        const { earlier, silentMs } = look(service, counted);
        const found =
          staysSilent(before, silentMs, warm.length === own.length, lateMs, limits) ??
          failsLately(before, earlier, counted, limits) ??
          answersWorse(before, counted, warm, lateMs, limits);
        const [first] = own;
        if (found === null || first === undefined) {
          slowSince.delete(service);
          continue;
        }
        const nowMs = parts.clock.monotonicMs();
        const sinceMs = slowSince.get(service) ?? nowMs;
        slowSince.set(service, sinceMs);
        if (found.isSure || nowMs - sinceMs >= SLOW_MS)
          return { worse: { instance: first.id, reason: `${service}: ${found.say(parts.record.recorded)}` }, doubtful };
        doubtful.push(...own.map(({ id }) => id));
      }
      return { worse: null, doubtful };
    },
  };
}

/** Of sent and answered ones: it changes with each. */
function sumOf(counted: readonly UpstreamCounters[]): number {
  return counted.reduce((sum, one) => Object.values(one.responses).reduce((a, b) => a + b, sum + one.requests), 0);
}

const REFRESH_MS = 100;

/** Counters of this very moment, or those of the last second when a proxy does not answer at once. Never rejects. */
export async function freshCounters(clock: Clock, proxies: Pick<ProxySet, "refresh">): Promise<void> {
  const limit = new AbortController();
  const cancel = clock.after(REFRESH_MS, () => limit.abort());
  await proxies.refresh(limit.signal).catch(() => undefined);
  cancel();
}
