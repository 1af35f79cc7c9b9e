// One attempt's journal: what earlier attempts left, met call by call, and the marks of this one's own.
// Invariants: a call is begun only after its mark is stored under our claim; a finished step is never called again; what
// an earlier attempt left of a call that may act is asked about (`asks`), never decided here.

import { createHash } from "node:crypto";
import type { Span } from "../../config/traces.ts";
import {
  actOn,
  asksFirst,
  canonicalJson,
  type JournalState,
  type JournalStep,
  keptTextLength,
  type StepKind,
} from "../core/journal.ts";
import type { Effect } from "../core/tool-effects.ts";
import { failure } from "../core/wire/errors.ts";
import { beginStep, endStep, type JournalledKind, listJournal } from "../db/journal.ts";
import { throughOutage } from "../db/through-outage.ts";
import type { JobContext } from "./handler.ts";

interface StepCall {
  readonly kind: StepKind;
  readonly name: string;
  readonly input: unknown;
  readonly effect: Effect;
  /** Of a new step; a step on record keeps its own. */
  readonly id: string;
  readonly textLength?: number;
  /** Not called before a person allows it. */
  readonly approval?: boolean;
}

export interface Begun {
  readonly n: number;
  readonly id: string;
  /** It is not called: its owner is asked first. */
  readonly asks: boolean;
}

export interface Journal {
  /** Its owner decides about a step before anything goes on. */
  readonly asks: boolean;
  /** How much of the text already told stands; null: all of it. */
  readonly keptTextLength: number | null;
  /** The next step on record of this very call that was not met yet; a model's call is met in order, whatever it asks. */
  meet(call: Pick<StepCall, "kind" | "name" | "input">): JournalStep | null;
  /** The step at that place, as it was when this attempt began. */
  at(n: number): JournalStep | null;
  /** Marks it started, or asked where a person is to allow it; `found`: the step on record it takes up again; `place`: where a new one goes. Throws `turn.lost`. */
  begin(call: StepCall, found: JournalStep | null, place?: number): Promise<Begun>;
  /** Marks its end, whatever was aborted; false when the claim is lost. */
  end(
    n: number,
    outcome: {
      readonly state: Exclude<JournalState, "asked" | "started">;
      readonly output?: unknown;
      readonly message?: string;
    },
  ): Promise<boolean>;
}

/** A claim read longer ago than this is read once more: the process may have been frozen in between. */
const CLAIM_FRESH_MS = 2_000;

/** What names a call's input: a person's answer is bound to it. */
function hashArgument(input: unknown): string {
  return createHash("sha256").update(canonicalJson(input)).digest("base64url");
}

/** Reads what is on record. */
export async function openJournal(context: JobContext, kind: JournalledKind): Promise<Journal> {
  const { db, clock } = context;
  const fence = { kind, id: context.id, attempt: context.attempt };
  // Nothing was begun before the first attempt.
  const steps = context.attempt === 1 ? [] : await throughOutage(context, () => listJournal(db, kind, context.id));
  const unmet = new Set(steps);
  const spans = new Map<number, Span>();
  let next = (steps.at(-1)?.n ?? -1) + 1;
  if (steps.some((step) => step.state === "finished")) context.stepFinished();

  return {
    asks: steps.some((step) => actOn(step) === "ask"),
    keptTextLength: keptTextLength(steps),
    meet(call) {
      const hash = call.kind === "tool" ? hashArgument(call.input) : null;
      for (const step of unmet) {
        if (step.kind !== call.kind || (hash !== null && (step.name !== call.name || step.argumentHash !== hash)))
          continue;
        unmet.delete(step);
        return step;
      }
      return null;
    },
    at: (n) => steps.find((step) => step.n === n) ?? null,
    async begin(call, found, place) {
      context.atBorder();
      const askedAtMs = clock.monotonicMs();
      const n = found?.n ?? place ?? next;
      next = Math.max(next, n + 1);
      const argumentHash = hashArgument(call.kind === "model" ? null : call.input);
      const asks = asksFirst(call.approval === true, found, argumentHash);
      const step = {
        n,
        state: asks ? ("asked" as const) : ("started" as const),
        id: found?.id ?? call.id,
        kind: call.kind,
        name: call.name,
        effect: call.effect,
        input: call.input,
        argumentHash,
        textLength: call.textLength ?? null,
      };
      if (!(await throughOutage(context, () => beginStep(db, fence, step)))) throw failure("turn.lost");
      context.log.info({ step: n, tool: call.name, ...(asks && { asks }) }, "step began");
      const span = asks ? null : context.traceStep?.(call.kind === "tool" ? `tool ${call.name}` : call.name, step.id);
      if (span) spans.set(n, span);
      const isOld = clock.monotonicMs() - askedAtMs > CLAIM_FRESH_MS;
      if (isOld && !asks && call.effect !== "read" && !(await context.stillClaimed())) throw failure("turn.lost");
      return { n, id: step.id, asks };
    },
    end(n, { state, output = null, message = null }) {
      if (state === "finished") context.stepFinished();
      context.log.info({ step: n, state }, "step ended");
      spans.get(n)?.end({ attributes: { "owl.step": n }, ...(state !== "finished" && { failure: state }) });
      spans.delete(n);
      // What was done must be known: an abort does not keep its end from being recorded.
      const waiter = { clock, signal: new AbortController().signal };
      return throughOutage(waiter, () => endStep(db, fence, { n, state, output, message }));
    },
  };
}
