// Runs tools for one turn, by its journal, and tells each call's start and end. Invariants: a call that is on record as
// over is not made again; every call that was told to have started gets an end, also when the turn is aborted (a synthetic
// one), so that no display spins for ever; one that is handed over goes on under its own id.

import { OwlError } from "../../../config/errors.ts";
import type { Clock, Random } from "../../../config/time.ts";
import { actOn, type JournalStep } from "../../core/journal.ts";
import { type Effect, effectOf } from "../../core/tool-effects.ts";
import { failedBefore, failure } from "../../core/wire/errors.ts";
import type { Tool, ToolOutput } from "../../tools/tool.ts";
import type { Begun, Journal } from "../journal.ts";
import type { AnswerSink } from "./answer-sink.ts";

export interface ToolCalls {
  readonly tools: readonly Tool[];
  /** Calls a tool. Throws what the tool throws (a bad input is `tool.input`). */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutput>;
  /** Calls are on record that its owner has to allow first. */
  readonly asks: boolean;
  /** How many are running now. */
  readonly running: number;
  /** Resolves when calls that may act have come to their end: they are not cut off for a hand-over. */
  settled(): Promise<void>;
  /** Ends the display of calls that are still open. */
  close(): void;
}

interface ToolCallsDeps {
  readonly turnId: string;
  readonly tools: readonly Tool[];
  readonly sink: AnswerSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly accountId: string;
  readonly journal: Journal;
  /** What calls that may act obey. */
  readonly acting: AbortSignal;
  /** Tools that are not called before a person allows it. */
  readonly approval: readonly string[];
  /** Called when nothing runs any more and some call waits to be allowed. */
  readonly onAsks: () => void;
  /** Ids of calls whose end was told by an earlier attempt. */
  readonly toldEnds: ReadonlySet<string>;
}

type Ended = "done" | "failed" | "aborted";
type Facts = Readonly<Record<string, unknown>>;

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export function createToolCalls(deps: ToolCallsDeps): ToolCalls {
  const { sink, clock, journal } = deps;
  const open = new Map<string, Shown & { readonly startedAt: number }>();
  const acting = new Set<Promise<unknown>>();
  /** Being put on record before they are called. */
  let beginning = 0;
  /** On record to be allowed: they come to no end in this attempt. */
  let asked = 0;

  /** What runs beside a call that is to be allowed comes to its end first. */
  function askWhenAlone(): void {
    if (asked > 0 && open.size === 0 && beginning === 0) deps.onAsks();
  }

  function end(id: string, state: Ended, rest: Facts): void {
    const call = open.get(id);
    if (!call) return;
    open.delete(id);
    askWhenAlone();
    const elapsedMs = Math.round(clock.monotonicMs() - call.startedAt);
    sink.tool({ id, name: call.name, input: call.input, state, elapsedMs, ...rest });
  }

  /** From the record; its end is told where the earlier attempt did not come to that. */
  function replay(step: JournalStep, call: Shown): ToolOutput {
    const tell = (state: Ended, facts: Facts) => {
      if (!deps.toldEnds.has(step.id)) sink.tool({ ...call, id: step.id, state, ...facts });
    };
    if (step.state === "failed") {
      const { code, next } = (step.output ?? {}) as { readonly code?: string; readonly next?: string };
      const message = step.message ?? "The tool failed.";
      tell("failed", { error: message });
      throw failedBefore(code ?? "tool.failed", message, next);
    }
    const output = (step.output ?? CONFIRMED) as ToolOutput;
    tell("done", { rows: output.rows, table: output.table });
    return output;
  }

  async function run(
    tool: Tool,
    input: unknown,
    begun: Begun,
    obeys: AbortSignal,
    effect: Effect,
  ): Promise<ToolOutput> {
    const { id, n } = begun;
    try {
      const key = `${deps.turnId}:${n}`;
      const output = await tool.run(input, { signal: obeys, key, accountId: deps.accountId });
      if (!(await journal.end(n, { state: "finished", output }))) throw failure("turn.lost");
      end(id, "done", { rows: output.rows, table: output.table });
      return output;
    } catch (error) {
      const told = error instanceof OwlError ? error : null;
      // Cut off: a read is left as begun, and is repeated by whoever goes on.
      if (obeys.aborted) {
        if (effect === "write") await journal.end(n, { state: "unknown", message: "The call was cut off." });
      } else if (told?.code !== "turn.lost") {
        const known = told !== null || effect !== "write";
        const message = told?.message ?? "The tool failed.";
        const output = { code: told?.code, next: told?.next };
        await journal.end(n, { state: known ? "failed" : "unknown", message, output });
        end(id, "failed", { error: message });
      }
      throw error;
    }
  }

  return {
    tools: deps.tools,
    get asks() {
      return asked > 0;
    },
    get running() {
      return open.size + beginning + asked;
    },
    async call(name, input, signal) {
      signal.throwIfAborted();
      const tool = deps.tools.find((one) => one.name === name);
      if (!tool) throw failure("tool.notFound", { name });
      const parsed = tool.input.safeParse(input);
      if (!parsed.success) throw failure("tool.input", { name, why: parsed.error.message });
      const found = journal.meet({ kind: "tool", name, input: parsed.data });
      const shown = { id: found?.id ?? deps.random.uuid(), name, input: parsed.data };
      if (found !== null && actOn(found) === "replay") return replay(found, shown);
      const effect = effectOf(tool.name, parsed.data as Facts);
      const approval = deps.approval.includes(name);
      const step = { kind: "tool", effect, textLength: sink.length, approval, ...shown } as const;
      beginning += 1;
      const begun = await journal.begin(step, found).finally(() => {
        beginning -= 1;
      });
      if (begun.asks) {
        asked += 1;
        askWhenAlone();
        return untilAborted(signal);
      }
      open.set(shown.id, { ...shown, startedAt: clock.monotonicMs() });
      sink.tool({ ...shown, state: "running" });
      const running = run(tool, parsed.data, begun, effect === "write" ? deps.acting : signal, effect);
      if (effect !== "write") return running;
      acting.add(running);
      return running.finally(() => acting.delete(running));
    },
    async settled() {
      while (acting.size > 0) await Promise.allSettled(acting);
    },
    close() {
      for (const id of [...open.keys()]) end(id, "aborted", {});
    },
  };
}

/** Never resolves: the attempt ends without the call. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** What the model is told of a call that a person confirmed: that it was, and no more. */
const CONFIRMED: ToolOutput = {
  value: { note: "A person confirmed that this call took effect. Its result is not known; do not repeat it." },
  rows: null,
  table: null,
};
