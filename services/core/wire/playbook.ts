// A playbook and its runs.

import { z } from "zod";
import { LOST_RULES, STEP_STATES } from "../playbook.ts";
import { EFFECTS, PLAYBOOK_TOOLS } from "../tool-effects.ts";
import { id, instant, list, pageOf, pageQuery, text } from "./parts.ts";
import { askedStep } from "./step.ts";

export const runState = z.enum(["queued", "running", "waiting", "done", "failed", "stopped"]);
export type RunState = z.infer<typeof runState>;
const fields = z.record(z.string(), z.unknown());

export const playbook = z.object({
  id,
  name: text,
  steps: list(
    z.object({
      id: text,
      tool: z.enum(PLAYBOOK_TOOLS),
      input: fields,
      effect: z
        .enum(EFFECTS)
        .optional()
        .describe("What a second call of an HTTP request or ticket would mean; absent: by its tool and method."),
      approval: z.boolean().optional().describe("`true`: the run waits until the call is allowed."),
    }),
  ),
  lost: z
    .enum(LOST_RULES)
    .describe("A run whose worker is lost goes on after its last finished step (`resume`), or fails (`fail`)."),
  createdAt: instant,
  updatedAt: instant,
  lastRun: z.object({ id, state: runState }).nullable(),
});
export type Playbook = z.infer<typeof playbook>;
export const playbookPage = pageOf(playbook);

/** Judged as a whole by core/playbook.ts: a writer is told every problem at once, with its step and field. */
export const newPlaybook = fields.meta({
  examples: [
    {
      name: "Report late orders",
      steps: [
        { id: "late", tool: "sql", input: { dataSource: "demo", sql: "SELECT count(*) AS n FROM orders" } },
        {
          id: "mail",
          tool: "mail",
          input: { to: "team@example.org", subject: "Late orders", text: "There are ${steps.late.output.rows[0].n}." },
        },
      ],
    },
  ],
});

export const run = z.object({
  id,
  playbookId: id,
  name: text,
  state: runState,
  message: text.nullable(),
  stoppedAtStep: text.nullable(),
  stopRequested: z.boolean(),
  createdAt: instant,
  claimedAt: instant.nullable(),
  endedAt: instant.nullable(),
  waitsFor: list(askedStep).describe(
    "While `waiting`: the call that is to be allowed, or whose outcome is not known; its owner answers.",
  ),
});
export type Run = z.infer<typeof run>;
export const runPage = pageOf(run);

const step = z.object({
  id: text,
  tool: text,
  state: z.enum(STEP_STATES),
  input: z.unknown(),
  output: z.unknown(),
  message: text.nullable(),
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
});
export type Step = z.infer<typeof step>;
export const runWithSteps = run.extend({ steps: list(step) });
export type RunWithSteps = z.infer<typeof runWithSteps>;

export const runQuery = z.object({ ...pageQuery, playbookId: id.optional() });
export const runAccepted = z.object({ runId: id, id });
export type RunAccepted = z.infer<typeof runAccepted>;
export const runStopped = z.object({ runId: id });
