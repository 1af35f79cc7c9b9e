// The rollouts on record: begun, followed step by step, ended, watched. What to do next is decided in core/rollout.ts.
// Invariant: a step is written before it is taken, an event before it is told; a watcher that comes late sees all.

import type {
  Rollout,
  RolloutEvent,
  RolloutKind,
  RolloutLedger,
  RolloutLine,
  RolloutStep,
} from "../../config/control-api.ts";
import { invariant } from "../../config/errors.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import type { Instance } from "../core/instance.ts";
import { NO_COST, withJobs } from "../core/ledger.ts";
import { advanceSteps, closeSteps, type LastRollout, type Milestone, type RecordedStep } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import type { RolloutFacts } from "../core/world.ts";
import type { JobCounts, ProxySet } from "../ports.ts";
import type { Store } from "../state/store.ts";
import { costsFrom, costsSeen, sumOf } from "./costs.ts";
import { createFeed } from "./feed.ts";
import { createRolloutHistory, type Estimate, idOf, type StoredRollout } from "./history.ts";
import type { Journal } from "./journal.ts";
import type { RolloutTotals } from "./totals.ts";

type Handed = Pick<StoredRollout, "confirmMs" | "share" | "estimate">;
type RolloutOptions = Partial<Pick<StoredRollout, "open" | "notes" | "askedBy" | "confirmMs">>;

export interface RolloutRunner {
  facts(): RolloutFacts | null;
  running(): Rollout | null;
  /** The newest one, for what the next restart continues. */
  last(): LastRollout | null;
  /** The newest `limit` of those begun before `before` (absent: of all), newest first. */
  recent(limit: number, before?: string): readonly Rollout[];
  /** Of all that ever ended, and the one that runs. */
  totals(): RolloutTotals;
  /** null: there is none of that id. */
  get(id: string): Rollout | null;
  begin(
    kind: RolloutKind,
    targets: readonly string[],
    steps: readonly RecordedStep[],
    estimate: Estimate,
    options?: RolloutOptions,
  ): Rollout;
  /** The open rollout goes on with these old instances; what failed before is no longer in the way. */
  retarget(targets: readonly string[], steps: readonly RecordedStep[]): void;
  /** The open rollout is the loop's from now on, like any other: it replaces these, and ends by itself. */
  handOver(targets: readonly string[], steps: readonly RecordedStep[], how: Handed): Rollout;
  /** A step of the open rollout that is no instance's: written before it is taken and after; told to watchers. */
  step(action: string, state: "running" | "done" | "failed" | "skipped", message: string): void;
  /** Ends the open rollout. */
  close(state: "succeeded" | "failed" | "cancelled", reason: string | null): void;
  /** Something happened to an instance; told to watchers when it belongs to the running rollout. */
  note(instance: Instance, event: Milestone, elapsedMs: number, message?: string): void;
  /** It failed over this new instance. `lines`: its last log lines, awaited before the rollout is said to have ended. */
  fail(instance: Instance, reason: string, lines: Promise<readonly string[]>): void;
  cancel(): Rollout | null;
  end(state: "succeeded" | "failed" | "cancelled", summary: string | null): void;
  /** Of a rollout that exists. */
  watch(id: string, signal: AbortSignal): AsyncIterable<RolloutLine>;
}

interface RolloutRunnerParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly journal: Journal;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly bootId: string;
  readonly proxies: Pick<ProxySet, "counters" | "tallies">;
  /** Has the proxies tell their counters anew; never rejects, bounded. */
  readonly refreshCounters: () => Promise<void>;
  /** What these instances did as workers; null when nobody knows. Bounded. */
  readonly jobCounts?: (instances: readonly string[]) => Promise<JobCounts | null>;
  readonly changed: () => void;
  /** How many are kept on record; older ones are forgotten with their events. */
  readonly kept: () => number;
}

const LINES = 50;
/** The "service" of an update's own steps. */
const OWN = "owl";

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the one running rollout, changed by these methods only.
export function createRolloutRunner(parts: RolloutRunnerParts): RolloutRunner {
  const { clock, store, journal } = parts;
  const say = parts.record.recorded.rollout;
  const history = createRolloutHistory(store, parts.kept);
  const feed = createFeed<{ readonly rollout: string; readonly event: RolloutEvent | null }>();
  /** The log lines of what failed are still being read. */
  let reading = false;
  /** The rollout whose last counters were asked for, and whether they have come. */
  let counted: { readonly rollout: number; readonly done: boolean; readonly jobs: JobCounts | null } | null = null;

  const current = (): StoredRollout | null => {
    const latest = history.latest();
    return latest?.state === "running" ? latest : null;
  };

  function put(rollout: StoredRollout): StoredRollout {
    const kept = { ...rollout, ...costsOf(rollout) };
    history.put(kept);
    parts.changed();
    return kept;
  }

  function costsOf({ costs }: StoredRollout): Pick<StoredRollout, "costs"> {
    return costs === undefined ? {} : { costs: costsSeen(costs, parts.proxies.tallies()) };
  }

  function shown(rollout: StoredRollout): Rollout {
    const nowMs = clock.now();
    return {
      id: idOf(rollout),
      kind: rollout.kind,
      state: rollout.state,
      startedAt: isoTime(rollout.startedAt),
      endedAt: rollout.endedAt === null ? null : isoTime(rollout.endedAt),
      reason: rollout.reason,
      steps: rollout.steps.map(({ place: _, ...step }) =>
        step.state === "running" && step.startedAt !== null && rollout.state === "running"
          ? { ...step, elapsedMs: Math.max(0, nowMs - Date.parse(step.startedAt)) }
          : step,
      ),
      ledger: rollout.state === "running" ? ledgerNow(rollout) : rollout.ledger,
      estimate: rollout.estimate,
      notes: rollout.notes ?? [],
      ...(rollout.askedBy === undefined ? {} : { askedBy: rollout.askedBy }),
      ...(rollout.state === "running" && rollout.cancelled ? { cancelling: true as const } : {}),
    };
  }

  function ledgerNow(rollout: StoredRollout): RolloutLedger {
    const { failures, retries, streamsMoved } = sumOf(costsOf(rollout).costs ?? {});
    return { ...rollout.ledger, requestsFailed: failures, retriedAtConnect: retries, streamsMoved };
  }

  function tell(rollout: StoredRollout, event: RolloutEvent): void {
    store.append("rollout_event", store.lastId("rollout_event") + 1, event, idOf(rollout));
    feed.publish({ rollout: idOf(rollout), event });
  }

  function bookCost(ledger: RolloutLedger, instance: Instance, event: Milestone, elapsedMs: number): RolloutLedger {
    if (event === "leave") {
      const busy = parts.proxies.counters().upstreams.find(({ id }) => id === instance.id)?.inFlight ?? 0;
      return { ...ledger, drainedInFlight: ledger.drainedInFlight + busy };
    }
    if (event !== "stopped" && event !== "killed") return ledger;
    const longestDrainMs = Math.max(ledger.longestDrainMs, elapsedMs);
    return { ...ledger, longestDrainMs, instancesKilled: ledger.instancesKilled + (event === "killed" ? 1 : 0) };
  }

  return {
    facts() {
      const rollout = current();
      if (rollout === null) return null;
      const { targets, failure, cancelled, open = false, confirmMs = 0, share } = rollout;
      const shared = share === undefined ? {} : { share };
      return { id: idOf(rollout), targets, failure, cancelled, open, confirmMs, ...shared, doubtful: [], worse: null };
    },
    running() {
      const rollout = current();
      return rollout === null ? null : shown(rollout);
    },
    last() {
      const latest = history.latest();
      return latest === null ? null : { state: latest.state, startedMs: latest.startedMs, bootId: latest.bootId };
    },
    recent: (limit, before) => history.recent(limit, before).map(shown),
    totals: history.totals,
    get(id) {
      const rollout = history.find(id);
      return rollout === null ? null : shown(rollout);
    },
    begin(kind, targets, steps, estimate, options) {
      const { failures, retries, streamsMoved } = parts.proxies.counters();
      const rollout = put({
        number: store.next("rollout"),
        kind,
        state: "running",
        startedAt: clock.now(),
        startedMs: clock.monotonicMs(),
        bootId: parts.bootId,
        endedAt: null,
        reason: null,
        steps,
        targets,
        places: {},
        failure: null,
        cancelled: false,
        ...options,
        estimate,
        ledger: NO_COST,
        costs: costsFrom(parts.proxies.tallies()),
        base: { failures, retries, streamsMoved },
      });
      const id = idOf(rollout);
      const begun = rollout.open === true ? say.begun(id, kind) : say.started(id, kind, targets.length);
      const message = [begun, ...(options?.notes ?? [])].join(" ");
      journal.write({ type: "rollout.started", rollout: id, message });
      return shown(rollout);
    },
    note(instance, event, elapsedMs, message) {
      const rollout = current();
      if (rollout === null) return;
      const isOld = rollout.targets.includes(instance.id);
      if (!isOld && instance.rollout !== idOf(rollout)) return;
      const places =
        event === "start" && instance.replaces !== null
          ? { ...rollout.places, [instance.id]: instance.replaces }
          : rollout.places;
      const old = isOld ? instance.id : places[instance.id];
      const at = isoTime(clock.now());
      const steps =
        old === undefined ? rollout.steps : advanceSteps(rollout.steps, old, instance.id, event, at, clock.now());
      put({ ...rollout, places, steps, ledger: bookCost(rollout.ledger, instance, event, elapsedMs) });
      if (event === "start" || event === "leave") return;
      tell(rollout, {
        at,
        rollout: idOf(rollout),
        service: instance.service,
        instance: instance.id,
        event,
        elapsedMs: Math.round(elapsedMs),
        ...(message === undefined ? {} : { message }),
      });
    },
    fail(instance, reason, lines) {
      const rollout = current();
      if (rollout === null || rollout.failure !== null) return;
      put({ ...rollout, failure: reason });
      this.note(instance, "failed", Math.max(0, clock.monotonicMs() - instance.startedMs), reason);
      reading = true;
      lines
        .catch(() => [])
        .then((found) => {
          reading = false;
          const now = current();
          if (now === null) return;
          const text = found.slice(-LINES).join("\n");
          put({ ...now, failure: text === "" ? reason : `${reason}\n${say.lastLines}\n${text}` });
        });
    },
    cancel() {
      const rollout = current();
      if (rollout === null) return null;
      if (!rollout.cancelled)
        journal.write({
          type: "rollout.cancelling",
          rollout: idOf(rollout),
          message: say.cancelling(idOf(rollout)),
        });
      return shown(put({ ...rollout, cancelled: true }));
    },
    end(state, summary) {
      const rollout = current();
      if (rollout === null || (state === "failed" && reading)) return;
      if (counted?.rollout !== rollout.number) {
        const { number } = rollout;
        counted = { rollout: number, done: false, jobs: null };
        const jobs = parts.jobCounts?.(leftIn(rollout)).catch(() => null) ?? null;
        // Settled whatever happens: it never rejects.
        void Promise.all([jobs, parts.refreshCounters()]).then(([known]) => {
          counted = { rollout: number, done: true, jobs: known };
          parts.changed();
        });
      }
      if (!counted.done) return;
      const { closing } = rollout;
      const reason = closing
        ? closing.reason
        : [state === "failed" ? rollout.failure : null, summary].filter(Boolean).join(" ") || null;
      const ended = put({
        ...rollout,
        state: closing?.state ?? state,
        endedAt: clock.now(),
        reason,
        steps: closeSteps(rollout.steps),
        ledger: withJobs(ledgerNow(rollout), counted.jobs),
      });
      const id = idOf(ended);
      journal.write({
        type: `rollout.${ended.state}`,
        rollout: id,
        message: `${say[closing?.state ?? state](id)}${reason === null ? "" : ` ${reason}`}`,
        data: { ledger: ended.ledger },
      });
      feed.publish({ rollout: id, event: null });
    },
    retarget(targets, steps) {
      const rollout = current();
      if (rollout === null) return;
      const before = rollout.steps.length;
      const numbered = steps.map((step, index) => ({ ...step, n: before + index + 1 }));
      put({ ...rollout, targets, places: {}, failure: null, steps: [...rollout.steps, ...numbered] });
    },
    handOver(targets, steps, how) {
      const rollout = current();
      invariant(rollout?.open === true, "what is handed over is an open rollout");
      const before = rollout.steps.length;
      const numbered = steps.map((step, index) => ({ ...step, n: before + index + 1 }));
      return shown(put({ ...rollout, ...how, open: false, targets, steps: [...rollout.steps, ...numbered] }));
    },
    step(action, state, message) {
      const rollout = current();
      if (rollout === null) return;
      const nowMs = clock.now();
      const at = isoTime(nowMs);
      const index = rollout.steps.findLastIndex((step) => step.service === OWN && step.action === action);
      const known = rollout.steps[index];
      // Taken again after owld was killed in it, a step keeps its first beginning.
      const startedAt = known?.startedAt ?? at;
      const step: RolloutStep = {
        n: known?.n ?? rollout.steps.length + 1,
        service: OWN,
        action,
        instance: null,
        state,
        startedAt,
        elapsedMs: Math.max(0, nowMs - Date.parse(startedAt)),
      };
      const steps = known === undefined ? [...rollout.steps, step] : rollout.steps.with(index, step);
      put({ ...rollout, steps });
      const id = idOf(rollout);
      journal.write({
        type: `${rollout.kind === "deploy" ? "deploy" : "update"}.${action}`,
        rollout: id,
        message: `${id}: ${message}`,
        data: { state },
      });
      const { elapsedMs } = step;
      tell(rollout, { at, rollout: id, service: OWN, instance: action, event: "step", elapsedMs, message });
    },
    close(state, reason) {
      const rollout = current();
      if (rollout?.open !== true) return;
      put({
        ...rollout,
        open: false,
        closing: { state, reason },
        failure: state === "failed" ? reason : rollout.failure,
      });
      reading = false;
      this.end(state, null);
    },
    watch(id, signal) {
      const live = new AbortController();
      const following = feed.listen(AbortSignal.any([signal, live.signal]));
      const past = store.read<RolloutEvent>("rollout_event", { rollout: id });
      const end = (): RolloutLine => {
        const rollout = history.find(id);
        invariant(rollout !== null, "a rollout being watched is on record");
        return { rollout: id, ...shown(rollout) };
      };
      const isOver = history.find(id)?.state !== "running";
      return (async function* () {
        try {
          yield* past;
          if (isOver) {
            yield end();
            return;
          }
          for await (const { rollout: of, event } of following) {
            if (of !== id) continue;
            if (event !== null) yield event;
            else {
              yield end();
              return;
            }
          }
        } finally {
          live.abort();
        }
      })();
    },
  };
}

/** Every old instance the rollout was to replace, those of its earlier goes too. */
function leftIn({ targets, steps }: StoredRollout): readonly string[] {
  const stopped = steps.flatMap(({ action, instance }) => (action === "stop" && instance !== null ? [instance] : []));
  return [...new Set([...targets, ...stopped])];
}
