// What the administration shows, read anew every two seconds while it is looked at.

import { useEffect, useState } from "preact/hooks";
import type { Rollout, Status } from "../../../../config/control-api.ts";
import { ApiError, call } from "../api.ts";
import { browserClock } from "../browser-time.ts";
import { failureText } from "../parts/failure.tsx";

export interface WorkerRow {
  readonly id: string;
  readonly release: string;
  readonly state: "active" | "draining" | "stalled";
  readonly heartbeatAgeMs: number;
  readonly jobs: Readonly<Record<string, number>>;
}

export interface QueueRow {
  readonly kind: string;
  readonly queued: number;
  readonly running: number;
  readonly oldestSeconds: number | null;
}

interface OutcomeRow {
  readonly outcome: "answered" | "stopped" | "failed";
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface HistogramBar {
  readonly fromMs: number;
  /** null: no upper end. */
  readonly toMs: number | null;
  readonly count: number;
}

export interface SystemJson {
  readonly release: string;
  readonly instance: string;
  readonly status: Status | null;
  readonly statusAgeMs: number | null;
  readonly workers: readonly WorkerRow[];
  readonly queues: readonly QueueRow[];
  readonly turns: {
    readonly finishMs: number;
    readonly sinceMs: number;
    readonly outcomes: readonly OutcomeRow[];
    readonly histogram?: readonly HistogramBar[];
  };
}

export interface Offer {
  readonly version: string;
  readonly notes: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly plan: Readonly<Record<string, unknown>>;
  readonly offeredAt: string;
}

/** A release that ran here; `plan` is owld's word on what going back costs. */
export interface Rollback {
  readonly version: string;
  readonly plan:
    | {
        readonly verdict: "planned";
        /** A copy of the database from before is put back. */
        readonly restores: boolean;
        readonly closedMs: number;
        readonly lost: {
          readonly count: number;
          readonly firstAt: string | null;
          readonly lastAt: string | null;
        } | null;
        readonly newerJobs: number;
      }
    | { readonly verdict: "refused"; readonly reason: string; readonly next: string };
  readonly at: string;
}

export interface Approval {
  readonly id: string;
  readonly kind: "update" | "restart" | "rollback";
  readonly version: string | null;
  readonly services: readonly string[] | null;
  readonly by: string;
  readonly state: "waiting" | "running" | "succeeded" | "failed" | "refused";
  readonly rollout: string | null;
  readonly progress: Partial<Rollout> | null;
  readonly message: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

export interface UpdateJson {
  readonly release: string;
  readonly offers: readonly Offer[];
  readonly rollbacks?: readonly Rollback[];
  readonly approvals: readonly Approval[];
}

/** A past rollout without its steps. */
export type PastRollout = Omit<Rollout, "steps" | "ledger" | "notes"> & {
  readonly cancels: readonly { readonly by: string; readonly state: "waiting" | "done" | "refused" }[];
};

/**
 * The rollout that runs, by whoever tells it, or null. Shown in one place: were it to move from one to another when the
 * second tells it too, a dialog about it would close under its reader.
 */
export function runningRollout(status: Status | null | undefined, approvals: readonly Approval[]): Rollout | null {
  const approved = approvals.find(({ state, progress }) => state === "running" && progress?.id && progress.steps);
  if (approved) return approved.progress as Rollout;
  return status?.rollout?.state === "running" ? status.rollout : null;
}

interface Polled<T> {
  readonly value: T | null;
  /** Why the last reading failed; what was read before stays shown. */
  readonly failed: string | null;
  readonly refresh: () => void;
}

/** `path`, read every `everyMs` while the page is visible. */
export function usePolled<T>(path: string, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      try {
        setValue(await call<T>(path, { signal: stop.signal }));
        setFailed(null);
      } catch (error) {
        if (!stop.signal.aborted && error instanceof ApiError) setFailed(failureText(error));
      }
    };
    void (async () => {
      await read();
      for await (const _ of browserClock.every(everyMs, stop.signal)) if (!document.hidden) await read();
    })();
    return () => stop.abort();
  }, [path, everyMs, asked]);
  return { value, failed, refresh: () => setAsked((now) => now + 1) };
}
