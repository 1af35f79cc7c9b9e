// The journal of a turn, a run or an analysis: its steps, each on record before it is taken and after, and what a new
// attempt does with each. Pure.
//
//   started -> finished | failed       its worker, after the call
//   asked -> started                   allowed: its worker, before the call
//   asked -> failed                    refused: whoever was asked
//   started -> unknown                 a write whose worker is gone: its owner is asked
//   unknown -> finished                "it happened"
//   unknown -> (again) -> started      "call again": once, by the next attempt
//
// Invariants: what finished is never called again; what may have acted is never repeated without a person's word.

import type { Effect } from "./tool-effects.ts";

export type StepKind = "model" | "tool";
/** asked: not called yet; its owner allows or refuses it. */
export type JournalState = "asked" | "started" | "finished" | "failed" | "unknown";
/** A person's word on a step whose outcome is not known, and on one that is not called before it is allowed. */
export const STEP_ANSWERS = ["happened", "again", "stop", "allow", "refuse"] as const;
export type StepAnswer = (typeof STEP_ANSWERS)[number];

export interface JournalStep {
  /** Its place in the journal, from 0. */
  readonly n: number;
  /** A playbook's step id; the id of a tool call's events. */
  readonly id: string;
  readonly kind: StepKind;
  readonly name: string;
  /** Of the input (`hashArgument`); null: written by code of before. */
  readonly argumentHash: string | null;
  readonly effect: Effect;
  readonly state: JournalState;
  readonly attempt: number;
  readonly output: unknown;
  readonly message: string | null;
  readonly answer: StepAnswer | null;
  /** How much of the answer's text came before it; null where it means nothing. */
  readonly textLength: number | null;
}

/** replay: its outcome is taken from the record. repeat: it is taken (again). ask: its owner decides first. */
type NextAct = "replay" | "repeat" | "ask";

/** What an attempt does with a step that an earlier attempt left behind. */
export function actOn(step: Pick<JournalStep, "kind" | "effect" | "state" | "answer">): NextAct {
  switch (step.state) {
    case "finished":
      return "replay";
    case "failed":
      // A tool's refusal is an outcome; a model call that failed gave nothing.
      return step.kind === "model" ? "repeat" : "replay";
    case "asked":
      return step.answer === "allow" ? "repeat" : "ask";
    case "started":
    case "unknown":
      return step.effect !== "write" || step.answer === "again" ? "repeat" : "ask";
  }
}

/**
 * True when a person is asked before the call. A word is about one tool and one argument: another argument is asked about
 * anew. What was begun once had been allowed.
 */
export function asksFirst(
  needsApproval: boolean,
  found: Pick<JournalStep, "state" | "answer" | "argumentHash"> | null,
  argumentHash: string,
): boolean {
  if (found === null) return needsApproval;
  return found.state === "asked" && (found.answer !== "allow" || found.argumentHash !== argumentHash);
}

/** How much of the text already told stands on steps that are over: the rest is taken back. null: all of it. */
export function keptTextLength(steps: readonly JournalStep[]): number | null {
  const open = steps.filter((step) => step.textLength !== null && actOn(step) !== "replay");
  return open.length === 0 ? null : Math.min(...open.map((step) => step.textLength ?? 0));
}

/** JSON with sorted keys: equal inputs are equal texts, whatever stored them in between. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`;
}
