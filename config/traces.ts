// Tells a collector of traces (OTLP over HTTP). Invariants: its SDK is loaded by `startTracing` alone; what is held is bounded
// and nobody waits for the collector; nothing of what people write is told: names, ids, times, counts and codes.

import type { Attributes, HrTime } from "@opentelemetry/api";
import type { Clock, Random } from "./time.ts";
import { isTold, type TracesConfig } from "./trace-ids.ts";

interface SpanStart {
  readonly name: string;
  /** Of `traceOf`. */
  readonly trace: string;
  /** A span's id; absent: it has none. */
  readonly parent?: string;
  /** Absent: a random one. */
  readonly id?: string;
  readonly kind: "server" | "client" | "internal" | "consumer";
  /** Wall clock; absent: now. */
  readonly atMs?: number;
  readonly attributes?: Attributes;
}

export interface Span {
  readonly id: string;
  /** `failure`: what went wrong, a code; absent: nothing. Wall clock; absent: now. */
  end(result?: { readonly attributes?: Attributes; readonly failure?: string; readonly atMs?: number }): void;
}

export interface Tracing {
  /** null: this trace is not told. */
  begin(start: SpanStart): Span | null;
  /** Tells what is still held, for so long; what cannot be told is dropped. */
  stop(): Promise<void>;
}

/** Held at most, told at a time, how often, and how long the collector may take: beyond that they are dropped. */
const BOUNDS = {
  maxQueueSize: 2_048,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 2_000,
  exportTimeoutMillis: 5_000,
};
const STOP_MS = 2_000;

/** Loads the SDK; `service` as collectors know it. */
export async function startTracing(
  { url, share }: TracesConfig,
  service: { readonly name: string; readonly instance: string; readonly version: string | null },
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  let next: { readonly trace: string; readonly id: string } | null = null;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: BOUNDS.exportTimeoutMillis });
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.namespace": "owl",
      "service.name": service.name,
      "service.instance.id": service.instance,
      ...(service.version === null ? {} : { "service.version": service.version }),
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter, BOUNDS)],
    // Asked for in the call that begins a span, which is ours.
    idGenerator: { generateTraceId: () => next?.trace ?? "", generateSpanId: () => next?.id ?? "" },
  });
  const tracer = provider.getTracer("owl");
  const kinds = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
    consumer: api.SpanKind.CONSUMER,
  };
  return {
    begin({ name, trace, parent, id = random.uuid().replaceAll("-", "").slice(16), kind, atMs, attributes }) {
      if (!isTold(trace, share)) return null;
      next = { trace, id };
      const context =
        parent === undefined
          ? api.ROOT_CONTEXT
          : api.trace.setSpanContext(api.ROOT_CONTEXT, {
              traceId: trace,
              spanId: parent,
              traceFlags: api.TraceFlags.SAMPLED,
              isRemote: true,
            });
      const options = {
        kind: kinds[kind],
        ...(attributes && { attributes }),
        ...(atMs && { startTime: timeOf(atMs) }),
      };
      const span = tracer.startSpan(name, options, context);
      return {
        id,
        end({ attributes: more = {}, failure, atMs: endMs } = {}) {
          span.setAttributes(more);
          if (failure !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
          span.end(endMs === undefined ? undefined : timeOf(endMs));
        },
      };
    },
    async stop() {
      await Promise.race([provider.shutdown().catch(() => undefined), clock.sleep(STOP_MS)]);
    },
  };
}

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
