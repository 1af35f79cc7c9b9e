// A job as a span below the request that asked for it, its steps below that.

import { traceOf, traceparentOf, webSpanOf } from "../../config/trace-ids.ts";
import type { Span, Tracing } from "../../config/traces.ts";
import type { Claim } from "../db/claims.ts";

interface JobTrace {
  /** `id`: the step's, a UUID, whose beginning names its span. */
  step(name: string, id: string): Span | null;
  /** For whoever is called in that step; null: its trace is not told. */
  traceparent(id: string): string | null;
  end(result: string): void;
}

/** Begins it; where nothing is traced, or not this one, nothing is told. */
export function traceJob(tracing: Tracing | null | undefined, { requestId, kind, id, attempt }: Claim): JobTrace {
  const trace = traceOf(requestId);
  const attributes = { "owl.job": id, "owl.attempt": attempt };
  const span =
    trace === null || !tracing
      ? null
      : tracing.begin({ name: kind, trace, parent: webSpanOf(trace), kind: "consumer", attributes });
  return {
    step: (name, step) =>
      span === null || trace === null || !tracing
        ? null
        : tracing.begin({ name, trace, parent: span.id, id: spanOf(step), kind: "client" }),
    traceparent: (step) => (span === null || trace === null ? null : traceparentOf(trace, spanOf(step))),
    end: (result) => span?.end({ attributes: { "owl.result": result } }),
  };
}

const spanOf = (step: string): string => step.replaceAll("-", "").slice(0, 16);
