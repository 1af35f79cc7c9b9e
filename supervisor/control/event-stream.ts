// Streams of JSON lines to one client each.
// Invariant: a slow reader is waited for and never makes owld buffer more than a socket's worth; a reader that left
// ends the source at once.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Text } from "../core/text/text.ts";
import { toProblem } from "./problems.ts";

/**
 * Writes every item of `source` as a line, then ends. A failure in the middle is the last line, `{"problem": …}`.
 * Resolves when all is over; never rejects. `failed` hears what was thrown.
 */
export async function streamLines(
  response: ServerResponse,
  source: AsyncIterable<unknown>,
  { signal, text }: { readonly signal: AbortSignal; readonly text: Text },
  failed: (error: unknown) => void,
): Promise<void> {
  response.writeHead(200, { "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" });
  // The client sees that it is connected before the first event happens.
  response.flushHeaders();
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextOrLeft(iterator, signal);
      if (next === "left" || next.done === true) break;
      if (!response.write(`${JSON.stringify(next.value)}\n`)) await drained(response, signal);
    }
  } catch (error) {
    if (!signal.aborted) {
      failed(error);
      response.write(`${JSON.stringify({ problem: toProblem(error, text) })}\n`);
    }
  } finally {
    // Not awaited: a source that waits for its next event ends by the signal, maybe later than the client wants.
    iterator.return?.().catch(failed);
    response.end();
  }
}

/** Not Promise.race: over a long stream that would pile up one listener for each line. */
function nextOrLeft(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<IteratorResult<unknown> | "left"> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve("left");
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
