// The playbook kind's handler: step after step, each marked started before its tool is called and finished after.
// Invariants: no tool is called without the claim read again; a step that finished is never called again, nor one that may
// have acted without its owner's word; a step that was started and has no end is unknown.

import { OwlError } from "../../../config/errors.ts";
import { jobCauseOf } from "../../core/abort.ts";
import { type Role, toolsToAllow } from "../../core/approval.ts";
import { actOn } from "../../core/journal.ts";
import { checkInput, fillReferences, type PlaybookStep } from "../../core/playbook.ts";
import { effectOf } from "../../core/tool-effects.ts";
import { endPlaybookRun, listSteps, loadRunToDo } from "../../db/playbook-runs.ts";
import { throughOutage } from "../../db/through-outage.ts";
import type { Outcome } from "../../tools/acting/outcome.ts";
import { waitForWord } from "../asking.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";
import { type Journal, openJournal } from "../journal.ts";
import { callTool, type PlaybookDeps } from "./call-tool.ts";

/** What the inputs and outputs of a run hold together: all of it is one answer, and is told at every step. */
const RUN_CHARACTERS = 4 * 2 ** 20;

/** Runs playbooks. */
export function createPlaybookHandler(deps: PlaybookDeps): Handler {
  return {
    async run(context) {
      const todo = await throughOutage(context, () => loadRunToDo(context.db, context));
      if (todo === null) return "lostClaim";
      const journal = await openJournal(context, "playbook");
      if (journal.asks) return waitForWord(context, "playbook");
      const outputs = new Map<string, unknown>();
      const size = { characters: 0 };
      for (const [position, step] of todo.steps.entries()) {
        if (context.signal.aborted) return endCut(context, step.id);
        const { accountId, role } = todo;
        const outcome = await doStep(deps, context, { step, position, outputs, accountId, role, journal, size });
        if (outcome === "lostClaim" || outcome === "handBack") return outcome;
        if (outcome === "asks") return waitForWord(context, "playbook");
        if (outcome.kind !== "finished") return endAtStep(context, step, outcome);
        outputs.set(step.id, outcome.output);
        size.characters += charactersOf(outcome.output);
      }
      return context.end((sql) => endPlaybookRun(sql, context, { state: "done", message: null, atStep: null }));
    },

    /** Something of ours broke: what is known of the steps is in their rows. */
    async fail(context, error) {
      if (error instanceof OwlError && error.code === "turn.lost") return "lostClaim";
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
  readonly role: Role;
  readonly journal: Journal;
  /** Of the inputs and outputs so far. */
  readonly size: { characters: number };
}

const charactersOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

async function doStep(
  deps: PlaybookDeps,
  context: JobContext,
  { step, position, outputs, accountId, role, journal, size }: StepWork,
): Promise<Outcome | "lostClaim" | "handBack" | "asks"> {
  const found = journal.at(position);
  if (found !== null && actOn(found) === "replay") {
    if (found.state === "finished") return { kind: "finished", output: found.output };
    return { kind: "failed", reason: found.message ?? "The tool failed.", output: found.output };
  }
  const filled = filledWithin(step, outputs, size);
  const input = filled.ok ? filled.input : step.input;
  const effect = effectOf(step.tool, input, step.effect ?? null);
  const wrong = filled.ok ? checkInput(step.tool, input)[0] : undefined;
  // What cannot be called at all is nobody's to allow.
  const isCallable = filled.ok && wrong === undefined;
  const approval =
    isCallable && (step.approval === true || toolsToAllow(context.config.tools, role).includes(step.tool));
  const call = { kind: "tool", name: step.tool, id: step.id, input, effect, approval } as const;
  const { asks } = await journal.begin(call, found, position);
  if (asks) return "asks";
  const signal = effect === "write" ? context.acting : context.signal;
  let outcome: Outcome;
  if (!filled.ok) outcome = { kind: "failed", reason: `${filled.reason}.` };
  else if (wrong) outcome = { kind: "failed", reason: `${wrong.field}: ${wrong.reason}.` };
  else outcome = await callTool(deps, context, { step, input, accountId, signal });
  // Cut off to be repeated elsewhere: it stays as begun.
  if (outcome.kind !== "finished" && signal.aborted && jobCauseOf(context) === "handOver") return "handBack";
  const marked = await journal.end(position, {
    state: outcome.kind,
    ...(outcome.kind === "unknown" ? {} : { output: outcome.output }),
    ...(outcome.kind === "finished" ? {} : { message: outcome.reason }),
  });
  return marked ? outcome : "lostClaim";
}

function filledWithin(step: PlaybookStep, outputs: StepWork["outputs"], size: StepWork["size"]) {
  const filled = fillReferences(step.input, outputs);
  if (!filled.ok) return filled;
  size.characters += charactersOf(filled.input);
  if (size.characters <= RUN_CHARACTERS) return filled;
  const reason = `The inputs and outputs of a run may hold ${RUN_CHARACTERS} characters together, and these are more`;
  return { ok: false, reason } as const;
}

function endAtStep(
  context: JobContext,
  step: PlaybookStep,
  outcome: Exclude<Outcome, { kind: "finished" }>,
): Promise<HandlerResult> {
  const cause = jobCauseOf(context);
  if (cause !== null && cause !== "handOver") return endCut(context, step.id);
  const key = outcome.kind === "unknown" ? "playbook.unknown" : "playbook.stepFailed";
  const message = context.text(key, { step: step.id, reason: outcome.reason });
  return context.end((sql) => endPlaybookRun(sql, context, { state: "failed", message, atStep: step.id }));
}

/** The run was aborted: stopped by its user, handed over, or cut. */
function endCut(context: JobContext, atStep: string | null): Promise<HandlerResult> {
  const cause = jobCauseOf(context);
  if (cause === "lostClaim") return Promise.resolve("lostClaim");
  if (cause === "handOver") return Promise.resolve("handBack");
  const stopped = cause === "stopped";
  const message = stopped ? null : context.text("playbook.cut", { step: atStep ?? "-" });
  return context.end((sql) => endPlaybookRun(sql, context, { state: stopped ? "stopped" : "failed", message, atStep }));
}
