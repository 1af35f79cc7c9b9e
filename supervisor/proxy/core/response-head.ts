// One pass over an answer's headers: how it is framed, which headers do not go on, is it an event stream.

import { alsoDropNamed, type HeadView, spells, tokensOf, valueAt } from "./head-view.ts";

export interface ResponseScan {
  /** False: the answer must not be passed on (framing that two readers could take in two ways). */
  ok: boolean;
  /** Declared body in bytes, null: none declared. */
  length: number | null;
  chunked: boolean;
  keepAlive: boolean;
  upgrade: string | null;
  eventStream: boolean;
  hasRequestId: boolean;
  /** It has a Strict-Transport-Security of its own. */
  hasHsts: boolean;
  /** Idle seconds the upstream grants (Keep-Alive: timeout=), or null. */
  idleS: number | null;
  dropped: readonly number[];
  /** Further headers of ours: name, value, ... */
  added: readonly string[];
}

const ESSENTIAL: ReadonlySet<string> = new Set(["content-length", "content-type", "set-cookie", "location", "date"]);
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(["keep-alive", "close", "upgrade"]);
const DIGITS = /^\d{1,15}$/;
const NO_DROPS: readonly number[] = [];
const NONE_ADDED: readonly string[] = [];

/** Sorts an answer's headers; pure. `status` 204 loses a Content-Length, which it must not have. */
export function scanResponse(status: number, minor: number, view: HeadView): ResponseScan {
  const scan: ResponseScan = {
    ok: true,
    length: null,
    chunked: false,
    keepAlive: minor === 1,
    upgrade: null,
    eventStream: false,
    hasRequestId: false,
    hasHsts: false,
    idleS: null,
    dropped: NO_DROPS,
    added: NONE_ADDED,
  };
  const { text, spans } = view;
  let dropped: number[] | null = null;
  let connection: string | null = null;
  const count = spans.length >> 2;
  for (let index = 0; index < count; index++) {
    const start = spans[index * 4] ?? 0;
    const end = spans[index * 4 + 1] ?? 0;
    const name = knownName(text, start, end - start);
    if (name === null) continue;
    switch (name) {
      case "content-length": {
        const value = valueAt(view, index);
        if (scan.length !== null || !DIGITS.test(value)) scan.ok = false;
        scan.length = Number(value);
        if (status !== 204) continue;
        break;
      }
      case "transfer-encoding":
        if (scan.chunked || valueAt(view, index).toLowerCase() !== "chunked") scan.ok = false;
        scan.chunked = true;
        break;
      case "connection":
        connection = connection === null ? valueAt(view, index) : `${connection},${valueAt(view, index)}`;
        break;
      case "keep-alive": {
        const seconds = /timeout=(\d{1,6})/.exec(valueAt(view, index))?.[1];
        if (seconds !== undefined) scan.idleS = Number(seconds);
        break;
      }
      case "upgrade":
        scan.upgrade = valueAt(view, index);
        break;
      case "content-type":
        if (/^text\/event-stream\b/i.test(valueAt(view, index))) scan.eventStream = true;
        continue;
      case "x-request-id":
        scan.hasRequestId = true;
        continue;
      case "strict-transport-security":
        scan.hasHsts = true;
        continue;
      case "te":
      case "proxy-connection":
      case "proxy-authenticate":
      case "proxy-authorization":
        break;
    }
    dropped ??= [];
    dropped.push(index);
  }
  if (dropped !== null) scan.dropped = dropped;
  if (scan.chunked && scan.length !== null) scan.ok = false;
  // Three digits are all llhttp asks for.
  if (status < 100) scan.ok = false;
  if (connection !== null && connection !== "keep-alive") {
    const tokens = tokensOf(connection);
    if (tokens.includes("close")) scan.keepAlive = false;
    else if (tokens.includes("keep-alive")) scan.keepAlive = true;
    const named = tokens.filter((token) => !PLAIN_OPTIONS.has(token));
    if (named.length > 0) scan.dropped = alsoDropNamed(view, scan.dropped, named, ESSENTIAL);
  } else if (connection !== null) {
    scan.keepAlive = true;
  }
  return scan;
}

const KNOWN = [
  "te",
  "upgrade",
  "connection",
  "keep-alive",
  "content-type",
  "x-request-id",
  "content-length",
  "proxy-connection",
  "transfer-encoding",
  "proxy-authenticate",
  "proxy-authorization",
  "strict-transport-security",
] as const;
type KnownName = (typeof KNOWN)[number];

const LONGEST_KNOWN = Math.max(...KNOWN.map((name) => name.length));
const KNOWN_OF_LENGTH: readonly (readonly KnownName[])[] = Array.from({ length: LONGEST_KNOWN + 1 }, (_, length) =>
  KNOWN.filter((name) => name.length === length),
);

/** Which of them stands at `start`, `size` characters long; null: one that goes on as it is. */
function knownName(text: string, start: number, size: number): KnownName | null {
  if (size > LONGEST_KNOWN) return null;
  for (const name of KNOWN_OF_LENGTH[size] ?? []) if (spells(text, start, name)) return name;
  return null;
}

/** May a reason phrase go on? llhttp takes any byte but a line's end; a control character is nobody's to pass on. */
export function isCleanReason(reason: string): boolean {
  return reason === "OK" || !/[^\t\x20-\x7e\x80-\xff]/.test(reason);
}

/** Does an answer of this status to this method end with its head? */
export function hasNoBody(method: string, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 304 || status < 200;
}

/** Trailers that go on: never framing, routing or credentials. Indexes of the others, ascending. */
export function droppedTrailers(view: HeadView): number[] {
  const dropped: number[] = [];
  const count = view.spans.length >> 2;
  for (let index = 0; index < count; index++) {
    const name = view.text.substring(view.spans[index * 4] ?? 0, view.spans[index * 4 + 1]).toLowerCase();
    if (FORBIDDEN_TRAILERS.has(name) || name.startsWith("x-forwarded-")) dropped.push(index);
  }
  return dropped;
}

const FORBIDDEN_TRAILERS: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "content-length",
  "content-encoding",
  "content-type",
  "content-range",
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
  "authorization",
  "cookie",
  "set-cookie",
  "expect",
  "forwarded",
  "x-request-id",
]);
