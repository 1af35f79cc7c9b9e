// The `traceparent` of this hop.

import { isTold, proxySpanOf, type TracesConfig, traceOf, traceparentOf } from "../../config/trace-ids.ts";
import type { RequestScan } from "./core/request-head.ts";

/** Its line, where a trace is told and the client has none of its own (its service goes on with that); else nothing. */
export function traceLine(scan: RequestScan, requestId: string, traces: TracesConfig | undefined): string {
  if (traces === undefined || scan.isTraced) return "";
  const trace = traceOf(requestId);
  if (trace === null || !isTold(trace, traces.share)) return "";
  return `traceparent: ${traceparentOf(trace, proxySpanOf(trace))}\r\n`;
}
