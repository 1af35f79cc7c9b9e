// The playbook kind's handler: step after step, each marked started before its tool is called and finished after.
// Invariants: no tool is called without the claim read again; no step's tool is called twice; a step that was started
// and has no end is unknown.

import { OwlError } from "../../../config/errors.ts";
import { abortCauseOf } from "../../core/abort.ts";
import { checkInput, fillReferences, type PlaybookStep } from "../../core/playbook.ts";
import { endPlaybookRun, listSteps, loadRunToDo, markEnded, markStarted } from "../../db/playbook-runs.ts";
import { throughOutage } from "../../db/through-outage.ts";
import type { Outcome } from "../../tools/acting/outcome.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";
import { callTool, type PlaybookDeps } from "./call-tool.ts";

/** Runs playbooks. */
export function createPlaybookHandler(deps: PlaybookDeps): Handler {
  return {
    async run(context) {
      const todo = await throughOutage(context, () => loadRunToDo(context.db, context));
      if (todo === null) return "lostClaim";
      const outputs = new Map<string, unknown>();
      for (const [position, step] of todo.steps.entries()) {
        if (context.signal.aborted) return endCut(context, step.id);
        const { accountId } = todo;
        const outcome = await doStep(deps, context, { step, position, outputs, accountId });
        if (outcome === "lostClaim") return "lostClaim";
        if (outcome.kind !== "finished") return endAtStep(context, step, outcome);
        outputs.set(step.id, outcome.output);
      }
      return context.end((sql) => endPlaybookRun(sql, context, { state: "done", message: null, atStep: null }));
    },

    /** Something of ours broke: what is known of the steps is in their rows. */
    async fail(context, error) {
      const steps = await listSteps(context.db, context.id);
      const open = steps.find((step) => step.state === "started");
      const todo = await loadRunToDo(context.db, context);
      const atStep = todo?.steps[open?.position ?? steps.length]?.id ?? null;
      if (context.signal.aborted) return endCut(context, atStep);
      const reason = error instanceof OwlError ? error.message : String(error instanceof Error ? error.message : error);
      const key = open === undefined ? "playbook.stepFailed" : "playbook.unknown";
      const message = context.text(key, { step: atStep ?? "-", reason });
      return context.end((sql) => endPlaybookRun(sql, context, { state: "failed", message, atStep }));
    },
  };
}

interface StepWork {
  readonly step: PlaybookStep;
  readonly position: number;
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly accountId: string;
}

/** A claim read longer ago than this is read once more: the process may have been frozen in between. */
const CLAIM_FRESH_MS = 2_000;

async function doStep(deps: PlaybookDeps, context: JobContext, work: StepWork): Promise<Outcome | "lostClaim"> {
  const { clock, db } = context;
  const { step, position } = work;
  const filled = fillReferences(step.input, work.outputs);
  const input = filled.ok ? filled.input : step.input;
  const askedAtMs = clock.monotonicMs();
  const mark = { position, id: step.id, tool: step.tool, input };
  // Not tried again through an outage: whether the mark was written would not be known, and the step's row is single.
  if (!(await markStarted(db, context, mark))) return "lostClaim";
  const wrong = filled.ok ? checkInput(step.tool, input)[0] : undefined;
  let outcome: Outcome;
  if (!filled.ok) outcome = { kind: "failed", reason: `${filled.reason}.` };
  else if (wrong) outcome = { kind: "failed", reason: `${wrong.field}: ${wrong.reason}.` };
  else if (clock.monotonicMs() - askedAtMs > CLAIM_FRESH_MS && !(await context.stillClaimed())) return "lostClaim";
  else outcome = await callTool(deps, context, { step, input, accountId: work.accountId });
  // What was done must be known: an abort does not keep its end from being recorded.
  const waiter = { clock, signal: new AbortController().signal };
  const marked = await throughOutage(waiter, () =>
    markEnded(db, context, {
      position,
      state: outcome.kind,
      output: outcome.kind === "unknown" ? null : outcome.output,
      message: outcome.kind === "finished" ? null : outcome.reason,
    }),
  );
  return marked ? outcome : "lostClaim";
}

function endAtStep(
  context: JobContext,
  step: PlaybookStep,
  outcome: Exclude<Outcome, { kind: "finished" }>,
): Promise<HandlerResult> {
  if (context.signal.aborted) return endCut(context, step.id);
  const key = outcome.kind === "unknown" ? "playbook.unknown" : "playbook.stepFailed";
  const message = context.text(key, { step: step.id, reason: outcome.reason });
  return context.end((sql) => endPlaybookRun(sql, context, { state: "failed", message, atStep: step.id }));
}

/** The run was aborted: stopped by its user, or cut. */
function endCut(context: JobContext, atStep: string | null): Promise<HandlerResult> {
  const cause = abortCauseOf(context.signal);
  if (cause === "lostClaim") return Promise.resolve("lostClaim");
  const stopped = cause === "stopped";
  const message = stopped ? null : context.text("playbook.cut", { step: atStep ?? "-" });
  return context.end((sql) => endPlaybookRun(sql, context, { state: stopped ? "stopped" : "failed", message, atStep }));
}
