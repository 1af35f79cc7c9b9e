// What came of a request here, as a span below the proxy's; what it set going has its spans below this one.

import type { Clock } from "../../config/time.ts";
import { proxySpanOf, traceOf, webSpanOf } from "../../config/trace-ids.ts";
import type { Tracing } from "../../config/traces.ts";
import type { WireApp } from "./wire.ts";

/** Tells of each request that is over. */
export function traceRequests(app: Pick<WireApp, "addHook">, tracing: Tracing, clock: Clock): void {
  app.addHook("onResponse", (request, reply, done) => {
    const trace = traceOf(request.id);
    const nowMs = clock.now();
    const status = reply.statusCode;
    if (trace !== null)
      tracing
        .begin({
          name: `${request.method} ${request.routeOptions.url ?? "none"}`,
          trace,
          parent: proxySpanOf(trace),
          id: webSpanOf(trace),
          kind: "server",
          atMs: nowMs - reply.elapsedTime,
          attributes: { "http.request.method": request.method },
        })
        ?.end({
          atMs: nowMs,
          attributes: { "http.response.status_code": status },
          ...(status >= 500 && { failure: `${status}` }),
        });
    done();
  });
}
