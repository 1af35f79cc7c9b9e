// One pass over a request's headers: is it unambiguous, how is it framed, which headers do not go on.
// Refuse by default: what two parsers could read in two ways is answered and its connection closed.

import { alsoDropNamed, type HeadView, spells, tokensOf, valueAt } from "./head-view.ts";

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly major: number;
  readonly minor: number;
}

type RequestRefusal = "badRequest" | "notImplemented" | "versionNotSupported" | "expectationFailed" | "connectMethod";

export interface RequestScan {
  refusal: RequestRefusal | null;
  /** The Host header as received; empty for an HTTP/1.0 request without one. */
  host: string;
  /** Declared body in bytes, null when chunked, 0 without a body. */
  bodyBytes: number | null;
  expectContinue: boolean;
  /** Protocol asked for by Upgrade together with Connection: upgrade, or null. */
  upgrade: string | null;
  /** By Connection and version; null: the version's default. */
  keepAlive: boolean;
  /** Indexes of headers that are not forwarded, ascending. */
  dropped: readonly number[];
  /** What the client says of itself, for trusted networks. */
  forwardedFor: string;
  forwardedProto: string;
  forwardedHost: string;
  forwarded: string;
  requestId: string;
  /** The client says of which trace its request is. */
  isTraced: boolean;
}

/** Connection cannot name these away: without them the request would mean something else. */
const ESSENTIAL: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "content-type",
  "expect",
  "authorization",
  "cookie",
]);
/** Connection options every message may carry; anything else names a header to remove. */
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(["keep-alive", "close", "upgrade", "te"]);

const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]*)(?::\d{0,5})?$/;
const DIGITS = /^\d{1,15}$/;
const AUTHORITY = /^https?:\/\/([^/?#@]+)(?:[/?][^#]*)?$/i;
const NO_DROPS: readonly number[] = [];

/** Judges and sorts a request's headers. Pure; `trusted`: the client's forwarding headers are believed. */
export function scanRequest(line: RequestLine, view: HeadView, trusted: boolean): RequestScan {
  const scan: RequestScan = {
    refusal: null,
    host: "",
    bodyBytes: 0,
    expectContinue: false,
    upgrade: null,
    keepAlive: line.minor === 1,
    dropped: NO_DROPS,
    forwardedFor: "",
    forwardedProto: "",
    forwardedHost: "",
    forwarded: "",
    requestId: "",
    isTraced: false,
  };
  if (line.major !== 1 || line.minor > 1) return refuse(scan, "versionNotSupported");
  if (line.method === "CONNECT") return refuse(scan, "connectMethod");

  const { text, spans } = view;
  let host: string | null = null;
  let length: string | null = null;
  let coding: string | null = null;
  let expect: string | null = null;
  let upgrade: string | null = null;
  let connection: string | null = null;
  let dropped: number[] | null = null;
  const count = spans.length >> 2;
  for (let index = 0; index < count; index++) {
    const start = spans[index * 4] ?? 0;
    const end = spans[index * 4 + 1] ?? 0;
    const name = knownName(text, start, end - start);
    if (name === null) continue;
    switch (name) {
      case "host":
        if (host !== null) return refuse(scan, "badRequest");
        host = valueAt(view, index);
        continue;
      case "content-length":
        if (length !== null) return refuse(scan, "badRequest");
        length = valueAt(view, index);
        continue;
      case "expect":
        if (expect !== null) return refuse(scan, "badRequest");
        expect = valueAt(view, index);
        continue;
      case "transfer-encoding":
        if (coding !== null) return refuse(scan, "badRequest");
        coding = valueAt(view, index);
        break;
      case "connection":
        connection = connection === null ? valueAt(view, index) : `${connection},${valueAt(view, index)}`;
        break;
      case "upgrade":
        upgrade = upgrade === null ? valueAt(view, index) : `${upgrade}, ${valueAt(view, index)}`;
        break;
      case "te":
      case "keep-alive":
      case "proxy-connection":
      case "proxy-authenticate":
      case "proxy-authorization":
        break;
      case "forwarded":
        if (trusted) scan.forwarded = joined(scan.forwarded, valueAt(view, index));
        break;
      case "traceparent":
        scan.isTraced = true;
        continue;
      case "x-request-id":
        if (trusted) scan.requestId = valueAt(view, index);
        break;
      case "x-forwarded-for":
        if (trusted) scan.forwardedFor = joined(scan.forwardedFor, valueAt(view, index));
        break;
      case "x-forwarded-proto":
        if (trusted) scan.forwardedProto = valueAt(view, index);
        break;
      case "x-forwarded-host":
        if (trusted) scan.forwardedHost = valueAt(view, index);
        break;
      case "x-real-ip":
      case "x-forwarded-":
        if (trusted) continue;
        break;
    }
    dropped ??= [];
    dropped.push(index);
  }
  if (dropped !== null) scan.dropped = dropped;

  if (coding !== null) {
    if (length !== null || line.minor === 0) return refuse(scan, "badRequest");
    if (coding.toLowerCase() !== "chunked") return refuse(scan, "notImplemented");
    scan.bodyBytes = null;
  } else if (length !== null) {
    if (!DIGITS.test(length)) return refuse(scan, "badRequest");
    scan.bodyBytes = Number(length);
  }
  if (host === null ? line.minor === 1 : !HOST.test(host)) return refuse(scan, "badRequest");
  scan.host = host ?? "";
  if (!targetFits(line.method, line.target, scan.host)) return refuse(scan, "badRequest");
  if (connection !== null) readConnection(scan, view, connection, upgrade);
  if (scan.upgrade !== null && scan.bodyBytes !== 0) return refuse(scan, "badRequest");
  if (expect !== null && line.minor === 1) {
    if (expect.toLowerCase() !== "100-continue") return refuse(scan, "expectationFailed");
    scan.expectContinue = scan.bodyBytes !== 0;
  }
  return scan;
}

function readConnection(scan: RequestScan, view: HeadView, connection: string, upgrade: string | null): void {
  if (connection === "keep-alive" || connection === "Keep-Alive") {
    scan.keepAlive = true;
    return;
  }
  const tokens = tokensOf(connection);
  if (tokens.includes("close")) scan.keepAlive = false;
  else if (tokens.includes("keep-alive")) scan.keepAlive = true;
  // HTTP/2 is not offered: an offer of h2c is ignored, as RFC 9110 allows, and the request served as it is.
  if (upgrade !== null && upgrade !== "" && tokens.includes("upgrade") && !/^h2c\b/i.test(upgrade))
    scan.upgrade = upgrade;
  const named = tokens.filter((token) => !PLAIN_OPTIONS.has(token));
  if (named.length > 0) scan.dropped = alsoDropNamed(view, scan.dropped, named, ESSENTIAL);
}

/** Lower-case names that mean something here, by length; the prefix stands for every name that begins with it. */
const KNOWN = [
  "te",
  "host",
  "expect",
  "upgrade",
  "forwarded",
  "x-real-ip",
  "connection",
  "keep-alive",
  "traceparent",
  "x-request-id",
  "content-length",
  "x-forwarded-for",
  "x-forwarded-host",
  "proxy-connection",
  "transfer-encoding",
  "x-forwarded-proto",
  "proxy-authenticate",
  "proxy-authorization",
] as const;
const FORWARDED_PREFIX = "x-forwarded-";
type KnownName = (typeof KNOWN)[number] | typeof FORWARDED_PREFIX;

const LONGEST_KNOWN = Math.max(...KNOWN.map((name) => name.length));
const KNOWN_OF_LENGTH: readonly (readonly KnownName[])[] = Array.from({ length: LONGEST_KNOWN + 1 }, (_, length) =>
  KNOWN.filter((name) => name.length === length),
);

/** Which of them stands at `start`, `size` characters long; null: one that goes on as it is. */
function knownName(text: string, start: number, size: number): KnownName | null {
  if (size <= LONGEST_KNOWN) {
    for (const name of KNOWN_OF_LENGTH[size] ?? []) if (spells(text, start, name)) return name;
  }
  return size >= FORWARDED_PREFIX.length && spells(text, start, FORWARDED_PREFIX) ? FORWARDED_PREFIX : null;
}

function refuse(scan: RequestScan, reason: RequestRefusal): RequestScan {
  scan.refusal = reason;
  return scan;
}

/** Origin form, `*` for OPTIONS, or an absolute form whose authority is the Host header's. */
function targetFits(method: string, target: string, host: string): boolean {
  if (target.charCodeAt(0) === 47) return !target.includes("#");
  if (target === "*") return method === "OPTIONS";
  const match = AUTHORITY.exec(target);
  return match !== null && (match[1] ?? "").toLowerCase() === host.toLowerCase();
}

function joined(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}
