// What runs and what is done to it, for administrators: status, releases, approvals, past rollouts, logs, audit trail.
// What owld wrote (config/control-api.ts) is passed on as it is.

import { z } from "zod";
import { JOB_KINDS } from "../../../config/config.ts";
import type { Rollout, Status } from "../../../config/control-api.ts";
import { count, id, instant, list, text } from "./parts.ts";

const facts = z.record(z.string(), z.unknown());
const asWritten = <Written>() => z.unknown() as unknown as z.ZodType<Written, unknown>;

const worker = z.object({
  id: text,
  release: text,
  state: z.enum(["active", "draining", "stalled"]),
  heartbeatAgeMs: z.number(),
  jobs: z.record(z.string(), z.number()),
});
export type Worker = z.infer<typeof worker>;
const turnOutcome = z.object({
  outcome: z.enum(["answered", "stopped", "failed"]),
  count,
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  maxMs: z.number(),
});
const bar = z.object({ fromMs: z.number(), toMs: z.number().nullable().describe("null: no upper end."), count });
export type HistogramBar = z.infer<typeof bar>;

export const system = z.object({
  release: text,
  instance: text,
  status: asWritten<Status | null>(),
  statusAgeMs: z.number().nullable(),
  workers: list(worker),
  queues: list(
    z.object({ kind: z.enum(JOB_KINDS), queued: count, running: count, oldestSeconds: z.number().nullable() }),
  ),
  turns: z.object({ finishMs: z.number(), sinceMs: z.number(), outcomes: list(turnOutcome), histogram: list(bar) }),
});
export type System = z.infer<typeof system>;

/** A release that ran here; `plan` is owld's word on what going back costs. */
type RollbackPlan =
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

const offer = z.object({ version: text, notes: text, manifest: facts, plan: facts, offeredAt: instant });
export type Offer = z.infer<typeof offer>;
const rollback = z.object({ version: text, plan: asWritten<RollbackPlan>(), at: instant });
export type Rollback = z.infer<typeof rollback>;
const approval = z.object({
  id,
  kind: z.enum(["update", "restart", "rollback"]),
  version: text.nullable(),
  services: list(text).nullable(),
  by: text,
  state: z.enum(["waiting", "running", "succeeded", "failed", "refused"]),
  rollout: text.nullable(),
  progress: asWritten<Partial<Rollout> | null>(),
  message: text.nullable(),
  createdAt: instant,
  endedAt: instant.nullable(),
});
export type Approval = z.infer<typeof approval>;
export const updates = z.object({
  release: text,
  offers: list(offer),
  rollbacks: list(rollback),
  approvals: list(approval),
});
export type Updates = z.infer<typeof updates>;

const version = text.min(1).max(100);
export const updateApproval = z.strictObject({ version }).meta({ examples: [{ version: "1.1.0" }] });
export const restartRequest = z
  .strictObject({
    services: list(text.min(1).max(64))
      .refine((names) => names.length <= 50, "are too many")
      .optional(),
  })
  .nullish();
export const approvalAccepted = z.object({ approvalId: id });

/** A past rollout without its steps. */
export type PastRollout = Omit<Rollout, "steps" | "ledger" | "notes"> & {
  readonly cancels: readonly { readonly by: string; readonly state: "waiting" | "done" | "refused" }[];
};
export const pastRollouts = z.object({ items: asWritten<readonly PastRollout[]>() });
export type PastRollouts = z.infer<typeof pastRollouts>;
export const rollout = asWritten<Rollout>();
export const rolloutParams = z.object({ id: text.regex(/^r-[0-9]{1,12}$/) });
export const cancelAccepted = z.object({ cancelId: id });

export const auditQuery = z.object({
  before: text.regex(/^[0-9]{1,15}$/).optional(),
});
export const auditTrail = z.object({
  items: list(
    z.object({
      id: z.number(),
      at: instant,
      account: text.nullable(),
      address: text.nullable(),
      action: text,
      target: text.nullable(),
      detail: facts,
    }),
  ),
});
export type AuditTrail = z.infer<typeof auditTrail>;

export const logQuery = z.object({
  instance: text.max(80).optional(),
  lines: text
    .regex(/^[0-9]{1,4}$/)
    .optional()
    .describe("At most so many (500)."),
});
export const logTail = z.object({
  instances: list(text),
  instance: text.nullable(),
  lines: list(text),
  unreadable: text.nullable(),
});
export type LogTail = z.infer<typeof logTail>;

export const figuresQuery = z.object({
  sinceMs: text.regex(/^[0-9]{1,13}$/).optional(),
});
export const figures = z.object({ finishMs: z.number(), outcomes: list(turnOutcome) });
