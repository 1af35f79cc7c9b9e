// A browser's view of a turn: the event stream, taken up again with Last-Event-ID whenever it breaks.

import { request } from "node:http";
import { systemClock } from "../../../config/system-time.ts";

/** The text of all deltas in order once the stream told the end; null when `over` aborted before. */
export async function followTurn(stream: Stream): Promise<string | null> {
  const { over } = stream;
  const seen = { text: "", lastId: "", ended: false };
  while (!over.aborted && !seen.ended) {
    await readStream(stream, seen);
    if (!seen.ended && !over.aborted) await systemClock.sleep(200);
  }
  return seen.ended ? seen.text : null;
}

interface Stream {
  readonly port: number;
  readonly cookie: string;
  readonly turnId: string;
  readonly over: AbortSignal;
  /** The client cuts the connection after so long, each time; null: it never does. */
  readonly cutAfterMs: number | null;
}

function readStream(stream: Stream, seen: { text: string; lastId: string; ended: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const headers = {
      cookie: stream.cookie,
      accept: "text/event-stream",
      ...(seen.lastId === "" ? {} : { "last-event-id": seen.lastId }),
    };
    const path = `/api/turns/${stream.turnId}/events`;
    const stop = () => sent.destroy();
    const sent = request({ host: "127.0.0.1", port: stream.port, path, headers, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (response.statusCode !== 200) return;
        rest += chunk;
        for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
          take(rest.slice(0, end), seen);
          rest = rest.slice(end + 2);
          if (seen.ended) sent.destroy();
        }
      });
      response.on("error", () => undefined);
    });
    sent.on("error", () => undefined);
    const keep = stream.cutAfterMs === null ? () => undefined : systemClock.after(stream.cutAfterMs, stop);
    sent.on("close", () => {
      keep();
      stream.over.removeEventListener("abort", stop);
      resolve();
    });
    stream.over.addEventListener("abort", stop, { once: true });
    sent.end();
  });
}

function take(event: string, seen: { text: string; lastId: string; ended: boolean }): void {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(event)?.[1] ?? "";
  const name = field("event");
  if (name === "delta") seen.text += (JSON.parse(field("data")) as { text?: string }).text ?? "";
  // Text that stood on nothing is taken back.
  if (name === "rewind") seen.text = seen.text.slice(0, (JSON.parse(field("data")) as { length: number }).length);
  if (name === "end") seen.ended = true;
  seen.lastId = field("id") || seen.lastId;
}
