// Updates and rollbacks: a course on record, taken step by step. What follows what is decided in core/update-course.ts;
// what a step does is in update-steps.ts; this file keeps the record, the loop and the end.
// Invariant: a step is written before it is taken and taken again by the next owld when we were killed in it.

import type { Logger } from "pino";
import type { Rollout } from "../../config/control-api.ts";
import { asError, invariant, OwlError } from "../../config/errors.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import { afterStep, type CourseStep, isBack, type Outcome, type UpdateCourse } from "../core/update-course.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Store } from "../state/store.ts";
import { noteBegun } from "./approvals.ts";
import type { CourseRecord } from "./course.ts";

/** What a step did beyond its work: facts that go into the record. */
type StepFacts = Partial<Pick<UpdateCourse, "to" | "plan" | "copy" | "staged">>;
export type TakeStep = (
  course: UpdateCourse,
  say: (message: string) => void,
  signal: AbortSignal,
) => Promise<StepFacts | undefined>;

interface UpdateRunnerParts {
  readonly course: CourseRecord;
  readonly store: Store;
  readonly journal: Journal;
  readonly rollouts: RolloutRunner;
  readonly log: Logger;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly steps: Readonly<Record<CourseStep, TakeStep>>;
  /** How long what it starts must stand before what ran before ends. */
  readonly confirmMs: () => number;
  /** It did not succeed, so nothing runs from what it staged: that goes, unless it was there before. Repeatable. */
  readonly discard: (course: UpdateCourse, outcome: Outcome) => Promise<void>;
  /** The decision loop should look again (holds and code may have changed). */
  readonly changed: (course: UpdateCourse | null) => void;
  /** It ended well: owld is to start again on the release that is `current` now. */
  readonly renewSelf: (course: UpdateCourse) => void;
}

export type NewCourse = Pick<
  UpdateCourse,
  | "kind"
  | "source"
  | "overlapAsked"
  | "allowUnsigned"
  | "from"
  | "to"
  | "restoreFrom"
  | "approval"
  | "ownServices"
  | "present"
>;

export interface UpdateRunner {
  /** Goes on with what an earlier owld left. */
  resume(): void;
  /** Puts it on record and begins; the caller has checked that no rollout runs. */
  begin(course: NewCourse, worstMs: number, askedBy?: string): Rollout;
  stop(): Promise<void>;
}

export function createUpdateRunner(parts: UpdateRunnerParts): UpdateRunner {
  const { store, rollouts, journal, course } = parts;
  const words = parts.record.recorded.update;
  const lifetime = new AbortController();
  let running: Promise<void> | null = null;
  /** What made the present step impossible before it was taken, or null. */
  let obstacle: Error | null = null;

  /** Kept on the disk before anything is done about it, then told to the rest of owld. */
  function put(next: UpdateCourse | null): void {
    course.keep(next);
    store.sync();
    try {
      parts.changed(next);
    } catch (caught) {
      obstacle = asError(caught);
    }
  }

  async function take(present: UpdateCourse): Promise<string | null> {
    const { step } = present;
    const say = (message: string): void => rollouts.step(step, "running", message);
    say(words.begins(step));
    try {
      if (obstacle !== null) throw obstacle;
      const facts = await parts.steps[step](present, say, lifetime.signal);
      const now = course.present();
      if (facts !== undefined && now !== null) put({ ...now, ...facts });
      rollouts.step(step, "done", words.done(step));
      return null;
    } catch (caught) {
      if (lifetime.signal.aborted) throw caught;
      obstacle = null;
      if (!(caught instanceof OwlError)) parts.log.error({ err: asError(caught), step }, "a step of the update failed");
      const { sentence, next } = wordsOf(caught, parts.record);
      rollouts.step(step, "failed", sentence);
      return `${step}: ${sentence}${next === undefined ? "" : ` ${next}`}`;
    }
  }

  /** A person may turn it back between two steps, as long as the new release is not `current`. */
  function cancelled(present: UpdateCourse): boolean {
    const settled: readonly CourseStep[] = ["switch", "trial", "prune"];
    return rollouts.facts()?.cancelled === true && !isBack(present) && !settled.includes(present.step);
  }

  async function run(): Promise<void> {
    for (;;) {
      const begun = course.present();
      if (begun === null || lifetime.signal.aborted) return;
      if (begun.outcome !== null) {
        await finish(begun, begun.outcome);
        return;
      }
      const failure = await take(begun);
      // The step may have added to it.
      const taken = course.present() ?? begun;
      const turned = failure ?? (cancelled(taken) ? words.cancelled : null);
      const next = afterStep(taken, turned, parts.record.recorded);
      if (next.next === "step") {
        put({ ...taken, step: next.step, failure: taken.failure ?? turned });
        continue;
      }
      const { reason, isWhole } = next;
      const state = next.state === "failed" && rollouts.facts()?.cancelled === true ? "cancelled" : next.state;
      put({ ...taken, outcome: { state, reason, isWhole } });
    }
  }

  /** Clears up after it, tells its end, forgets it: in this order, so that a kill between leaves none of them out. */
  async function finish(ended: UpdateCourse, outcome: Outcome): Promise<void> {
    if (outcome.state !== "succeeded")
      await parts
        .discard(ended, outcome)
        .catch((error: unknown) => parts.log.warn({ err: asError(error) }, "what the update left was not removed"));
    rollouts.close(outcome.state, outcome.reason);
    put(null);
    if (outcome.state === "succeeded") parts.renewSelf(ended);
  }

  function start(): void {
    running = run().catch((error: unknown) => {
      if (!lifetime.signal.aborted) parts.log.error({ err: asError(error) }, "the update stopped by a fault of ours");
    });
  }

  return {
    resume() {
      if (running !== null) return;
      const facts = rollouts.facts();
      const left = course.present();
      if (left === null) {
        // Only an owld that wrote the two apart can have left it so.
        if (facts?.open === true && rollouts.running()?.kind !== "deploy") rollouts.close("failed", words.neverBegan);
        return;
      }
      const { id, step, outcome } = left;
      if (outcome === null && facts?.id !== id) {
        put(null);
        return;
      }
      const message = words.resumed(id, outcome === null ? step : null);
      journal.write({ type: "update.resumed", rollout: id, message });
      start();
    },
    begin(asked, worstMs, askedBy) {
      const step: CourseStep = asked.kind === "rollback" ? "preflight" : "stage";
      const rest = { plan: null, copy: null, step, failure: null, staged: false, outcome: null } as const;
      const begun: Rollout[] = [];
      obstacle = null;
      // Together: a rollout on record without its course would run for ever.
      store.atomically(() => {
        const rollout = rollouts.begin(
          asked.kind,
          [],
          [],
          { expectedMs: worstMs, worstMs },
          { open: true, askedBy, confirmMs: parts.confirmMs() },
        );
        begun.push(rollout);
        course.keep({ ...asked, ...rest, id: rollout.id });
        const { approval } = asked;
        if (approval !== null) noteBegun(store, approval, rollout.id, Date.parse(rollout.startedAt));
      });
      store.sync();
      const [rollout] = begun;
      invariant(rollout !== undefined, "a begun rollout is on record");
      start();
      return rollout;
    },
    async stop() {
      lifetime.abort(new OwlError("supervisor.stopping", "owld is stopping."));
      await running;
    },
  };
}
