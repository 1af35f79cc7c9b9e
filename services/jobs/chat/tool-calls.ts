// Runs tools for one turn and tells each call's start and end. Invariant: every call that was told to have started gets
// an end, also when the turn is aborted (a synthetic one), so that no display spins for ever.

import { OwlError } from "../../../config/errors.ts";
import type { Clock, Random } from "../../../config/time.ts";
import { failure } from "../../core/wire/errors.ts";
import type { Tool, ToolOutput } from "../../tools/tool.ts";
import type { AnswerSink } from "./answer-sink.ts";

export interface ToolCalls {
  readonly tools: readonly Tool[];
  /** Calls a tool. Throws what the tool throws (a bad input is `tool.input`). */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutput>;
  /** How many are running now. */
  readonly running: number;
  /** Ends the display of calls that are still open. */
  close(): void;
}

interface ToolCallsDeps {
  readonly tools: readonly Tool[];
  readonly sink: AnswerSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly accountId: string;
  /** Asked before each call: a worker that lost its claim calls nothing any more. */
  readonly stillClaimed: () => Promise<boolean>;
}

export function createToolCalls(deps: ToolCallsDeps): ToolCalls {
  const { sink, clock } = deps;
  const open = new Map<string, { readonly name: string; readonly input: unknown; readonly startedAt: number }>();

  function end(id: string, state: "done" | "failed" | "aborted", rest: Readonly<Record<string, unknown>>): void {
    const call = open.get(id);
    if (!call) return;
    open.delete(id);
    const elapsedMs = Math.round(clock.monotonicMs() - call.startedAt);
    sink.tool({ id, name: call.name, input: call.input, state, elapsedMs, ...rest });
  }

  return {
    tools: deps.tools,
    get running() {
      return open.size;
    },
    async call(name, input, signal) {
      signal.throwIfAborted();
      const tool = deps.tools.find((one) => one.name === name);
      if (!tool) throw failure("tool.notFound", { name });
      const parsed = tool.input.safeParse(input);
      if (!parsed.success) throw failure("tool.input", { name, why: parsed.error.message });
      if (!(await deps.stillClaimed())) throw failure("turn.lost");
      const id = deps.random.uuid();
      open.set(id, { name, input: parsed.data, startedAt: clock.monotonicMs() });
      sink.tool({ id, name, input: parsed.data, state: "running" });
      try {
        const output = await tool.run(parsed.data, { signal, accountId: deps.accountId });
        end(id, "done", { rows: output.rows, table: output.table });
        return output;
      } catch (error) {
        if (signal.aborted) end(id, "aborted", {});
        else end(id, "failed", { error: error instanceof OwlError ? error.message : "The tool failed." });
        throw error;
      }
    },
    close() {
      for (const id of [...open.keys()]) end(id, "aborted", {});
    },
  };
}
