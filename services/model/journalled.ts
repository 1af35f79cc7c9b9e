// A language model whose calls are kept: what a call gave is on record before any tool it names is called, and a call that
// is on record is not made again. Invariant: text passes as it comes; a tool call passes only after the record.

import { wrapLanguageModel } from "ai";
import type { ModelRecord } from "./responder.ts";

type Model = ReturnType<typeof wrapLanguageModel>;
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

/** Parts that a replay needs: what was said and what was called. */
const KEPT = ["text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end"];

/** `model`, kept by `record`. */
export function journalledModel(model: Model, record: ModelRecord): Model {
  return wrapLanguageModel({
    model,
    middleware: {
      async wrapStream({ doStream }) {
        const kept = (await record.begin()) as readonly Part[] | null;
        if (kept !== null) return { stream: streamOf(kept) };
        const result = await doStream();
        return { ...result, stream: result.stream.pipeThrough(keeper(record)) };
      },
    },
  });
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream<Part>({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function keeper(record: ModelRecord): TransformStream<Part, Part> {
  const kept: Part[] = [];
  const calls: Part[] = [];
  let isBroken = false;
  return new TransformStream<Part, Part>({
    async transform(part, controller) {
      if (part.type === "tool-call") {
        calls.push(part);
        return;
      }
      if (part.type === "error") isBroken = true;
      if (KEPT.includes(part.type)) keep(kept, part);
      if (part.type === "finish") {
        if (!isBroken) await record.end([...kept, ...calls, part]);
        for (const call of calls) controller.enqueue(call);
      }
      controller.enqueue(part);
    },
  });
}

/** Deltas of one text are kept as one. */
function keep(kept: Part[], part: Part): void {
  const last = kept.at(-1);
  const isDelta = part.type === "text-delta" || part.type === "reasoning-delta";
  if (isDelta && last?.type === part.type && last.id === part.id) {
    kept[kept.length - 1] = { ...last, delta: last.delta + part.delta };
  } else kept.push(part);
}
