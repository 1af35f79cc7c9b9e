// Traces: one a request, named by its id, so that proxy, web and workers tell of the same one without a word between them.
// Pure.

export interface TracesConfig {
  /** Of the collector, OTLP over HTTP. */
  readonly url: string;
  /** Of all requests, 0 to 1. */
  readonly share: number;
}

/** The trace of a request; null: its id is somebody else's and no UUID. */
export function traceOf(requestId: string | null): string | null {
  const hex = requestId?.replaceAll("-", "").toLowerCase() ?? "";
  return /^[0-9a-f]{32}$/.test(hex) && !/^0{16}|0{16}$/.test(hex) ? hex : null;
}

/** Spans whose ids follow from the trace: whoever tells of what came of them knows their parent. */
export const proxySpanOf = (trace: string): string => trace.slice(0, 16);
export const webSpanOf = (trace: string): string => trace.slice(16);

/** Everybody who sees a trace decides alike. */
export const isTold = (trace: string, share: number): boolean =>
  Number.parseInt(trace.slice(0, 8), 16) < share * 2 ** 32;

/** W3C `traceparent`. */
export const traceparentOf = (trace: string, span: string): string => `00-${trace}-${span}-01`;
