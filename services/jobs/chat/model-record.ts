// The model's calls of one turn by its journal. Invariant: calls are met in order; one that gave nothing (it failed, or was
// cut off) keeps its place for the next.

import type { Random } from "../../../config/time.ts";
import { actOn } from "../../core/journal.ts";
import { failure } from "../../core/wire/errors.ts";
import type { ModelRecord } from "../../model/responder.ts";
import type { Begun, Journal } from "../journal.ts";
import type { AnswerSink } from "./answer-sink.ts";

export function createModelRecord(deps: {
  readonly journal: Journal;
  readonly sink: Pick<AnswerSink, "length">;
  readonly random: Random;
  /** Its name, for the record. */
  readonly model: string | null;
  readonly traceparent: ((step: string) => string | null) | undefined;
}): ModelRecord & { readonly waiting: number } {
  const { journal, sink } = deps;
  let waiting = 0;
  let begun: Begun | null = null;

  async function counted<T>(work: Promise<T>): Promise<T> {
    waiting += 1;
    try {
      return await work;
    } finally {
      waiting -= 1;
    }
  }

  return {
    /** Of the record's own statements under way: the endpoint is not silent meanwhile. */
    get waiting() {
      return waiting;
    },
    traceparent: () => (begun === null ? null : (deps.traceparent?.(begun.id) ?? null)),
    async begin() {
      const call = { kind: "model", name: "model", input: { model: deps.model }, effect: "read" } as const;
      const found = begun === null ? journal.meet(call) : null;
      if (found !== null && actOn(found) === "replay" && found.output !== null) return found.output;
      const step = { ...call, id: found?.id ?? begun?.id ?? deps.random.uuid(), textLength: sink.length };
      begun = await counted(journal.begin(step, found, begun?.n));
      return null;
    },
    async end(output) {
      if (begun === null) return;
      const { n } = begun;
      begun = null;
      if (!(await counted(journal.end(n, { state: "finished", output })))) throw failure("turn.lost");
    },
  };
}
