// Requests as the proxy's spans: each the first of its trace. Loaded where traces are told.

import type { Clock, Random } from "../../config/time.ts";
import { proxySpanOf, type TracesConfig, traceOf } from "../../config/trace-ids.ts";
import { startTracing, type Tracing } from "../../config/traces.ts";
import type { AccessEntry } from "./engine.ts";

export interface RequestSpans {
  /** Tells of a request that is over now. */
  tell(entry: AccessEntry): void;
  stop(): Promise<void>;
}

/** Loads the SDK. */
export async function createRequestSpans(
  traces: TracesConfig,
  instance: string,
  deps: { readonly clock: Clock; readonly random: Random },
): Promise<RequestSpans> {
  const tracing = await startTracing(traces, { name: "proxy", instance, version: null }, deps);
  return { tell: (entry) => tellRequest(tracing, entry, deps.clock.now()), stop: tracing.stop };
}

/** Its query, which may hold what people write, is left out. */
function tellRequest(tracing: Tracing, entry: AccessEntry, nowMs: number): void {
  const trace = traceOf(entry.requestId);
  if (trace === null) return;
  const { method, target, status, service, upstream, retries, elapsedMs, bytesIn, bytesOut } = entry;
  const span = tracing.begin({
    name: `${method} ${service ?? "proxy"}`,
    trace,
    id: proxySpanOf(trace),
    kind: "server",
    atMs: nowMs - elapsedMs,
    attributes: {
      "http.request.method": method,
      "url.path": target.split("?", 1)[0] ?? "",
      "http.request.body.size": bytesIn,
      "http.response.body.size": bytesOut,
      "owl.retries": retries,
      ...(status === 0 ? {} : { "http.response.status_code": status }),
      ...(service === null ? {} : { "owl.service": service }),
      ...(upstream === null ? {} : { "owl.instance": upstream }),
    },
  });
  const failure = status === 0 ? "left" : status >= 500 ? `${status}` : null;
  span?.end({ atMs: nowMs, ...(failure === null ? {} : { failure }) });
}
