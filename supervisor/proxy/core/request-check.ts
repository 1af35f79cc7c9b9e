// What makes a request ambiguous, beyond what llhttp's strict mode refuses by itself. Refuse by default:
// whatever two parsers could read in two ways is answered and its connection closed.

import type { FlatHeaders } from "./forward-headers.ts";

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly major: number;
  readonly minor: number;
  readonly headers: FlatHeaders;
  /** An upgrade is asked for (Connection: upgrade and an Upgrade header). */
  readonly upgrade: boolean;
}

export type RequestVerdict =
  | {
      readonly ok: true;
      readonly host: string;
      /** Declared body: bytes, or null when chunked; 0 without a body. */
      readonly bodyBytes: number | null;
      /** A Content-Length header was there (kept as received). */
      readonly hasLength: boolean;
      readonly expectContinue: boolean;
    }
  | {
      readonly ok: false;
      readonly reason: "badRequest" | "notImplemented" | "versionNotSupported" | "expectationFailed" | "connectMethod";
    };

const BAD = { ok: false, reason: "badRequest" } as const;
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::\d{0,5})?$/;
const DIGITS = /^\d{1,15}$/;

/** Judges a request head; pure. */
export function checkRequest(head: RequestHead): RequestVerdict {
  if (head.major !== 1 || head.minor > 1) return { ok: false, reason: "versionNotSupported" };
  if (head.method === "CONNECT") return { ok: false, reason: "connectMethod" };
  let host: string | null = null;
  let length: string | null = null;
  let coding: string | null = null;
  let expect: string | null = null;
  const { headers } = head;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === "host") {
          if (host !== null) return BAD;
          host = value;
        }
        break;
      case 6:
        if (name.toLowerCase() === "expect") {
          if (expect !== null) return BAD;
          expect = value;
        }
        break;
      case 14:
        if (name.toLowerCase() === "content-length") {
          if (length !== null) return BAD;
          length = value;
        }
        break;
      case 17:
        if (name.toLowerCase() === "transfer-encoding") {
          if (coding !== null) return BAD;
          coding = value;
        }
        break;
      default:
    }
  }
  if (coding !== null) {
    if (length !== null || head.minor === 0) return BAD;
    if (coding.toLowerCase() !== "chunked") return { ok: false, reason: "notImplemented" };
  }
  if (length !== null && !DIGITS.test(length)) return BAD;
  if (host === null ? head.minor === 1 : !HOST.test(host)) return BAD;
  if (!targetFits(head.method, head.target, host ?? "")) return BAD;
  const bodyBytes = coding !== null ? null : length === null ? 0 : Number(length);
  if (head.upgrade && bodyBytes !== 0) return BAD;
  if (expect !== null && head.minor === 1 && expect.toLowerCase() !== "100-continue") {
    return { ok: false, reason: "expectationFailed" };
  }
  const expectContinue = expect !== null && head.minor === 1 && bodyBytes !== 0;
  return { ok: true, host: host ?? "", bodyBytes, hasLength: length !== null, expectContinue };
}

/** Origin form, `*` for OPTIONS, or an absolute form whose authority is the Host header's. */
function targetFits(method: string, target: string, host: string): boolean {
  if (target.startsWith("/")) return !target.includes("#");
  if (target === "*") return method === "OPTIONS";
  const match = /^https?:\/\/([^/?#@]+)(?:[/?][^#]*)?$/i.exec(target);
  return match !== null && (match[1] ?? "").toLowerCase() === host.toLowerCase();
}
