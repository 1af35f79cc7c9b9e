// /v1/app/*: passes a request on to a ready bundled web instance, under /internal/*, which the proxy never serves.
// Invariant: what comes back is that instance's answer unchanged; owld reads neither body.

import type { IncomingMessage, ServerResponse } from "node:http";
import { request } from "../../config/http.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { Control } from "./control.ts";

const HOP_BY_HOP = new Set(["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"]);

/** Resolves when the answer was passed back whole. Rejects with `app.unavailable` while nothing was sent. */
export function passToApp(
  incoming: IncomingMessage,
  response: ServerResponse,
  path: string,
  target: ReturnType<Control["appTarget"]>,
  signal: AbortSignal,
): Promise<void> {
  if (target === null) return Promise.reject(unavailable(({ appNotReady }) => appNotReady));
  const where = "socket" in target ? { socketPath: target.socket } : { host: target.host, port: target.port };
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...where,
      method: incoming.method,
      path: `/internal${path}`,
      headers: { ...endToEnd(incoming.headers), host: "localhost", connection: "close" },
      agent: false,
      signal,
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (!response.headersSent) reject(unavailable(({ appBrokeOff }) => appBrokeOff(error.code ?? error.message)));
      else response.destroy();
    });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      response.on("close", resolve);
    });
    incoming.pipe(outgoing);
  });
}

function endToEnd(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  const framed = headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name))), ...framed };
}

function unavailable(why: (refused: Text["refused"]) => string): Refusal {
  return new Refusal("app.unavailable", ({ refused }) => refused.app(why(refused)));
}
