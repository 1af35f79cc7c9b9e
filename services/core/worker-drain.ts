// When a draining worker does what, in ms since SIGTERM. Pure: the worker asks, and acts.
//
//   SIGTERM -> no claim -> finish -> hand-over, or abort of budget kinds -> wrap-up (leftovers ended by force near its end)
//           -> deregister -> heartbeat off -> exit 0; kinds that run on keep the process until the grace's SIGKILL.

import type { JobKind, TurnConfig } from "../../config/config.ts";
import { jobKinds } from "./job-kinds.ts";

interface DrainDeadlines {
  /** Budget kinds are handed over or aborted. */
  readonly abortAtMs: number;
  /** Budget kinds that still run (deaf to their signal) are ended in the database without them. */
  readonly forceAtMs: number;
  /** The process ends even when PostgreSQL hangs, unless a kind that runs on is still at work. */
  readonly exitAtMs: number;
}

/** The instants of one drain. `graceMs` is above finish + wrapUp (checked when the configuration is loaded). */
export function drainDeadlines(turn: TurnConfig, graceMs: number): DrainDeadlines {
  const wrappedUpAtMs = turn.finishMs + turn.wrapUpMs;
  return {
    abortAtMs: turn.finishMs,
    forceAtMs: wrappedUpAtMs - Math.min(5_000, turn.wrapUpMs / 3),
    exitAtMs: wrappedUpAtMs + Math.max(0, graceMs - wrappedUpAtMs) / 2,
  };
}

type StopRule = "budget" | "handBack" | "runOn";

/** What a kind does on SIGTERM under this configuration: `transcription.onStop: finish` lets it run on. */
export function stopRule(kind: JobKind, transcriptionOnStop: "handBack" | "finish"): StopRule {
  if (kind === "transcription" && transcriptionOnStop === "finish") return "runOn";
  return jobKinds[kind].onStop;
}
