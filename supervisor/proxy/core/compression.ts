// Which of an upstream's answers are compressed on their way, and how such a head reads (RFC 9110). Pure.
// Invariant: an answer whose bytes mean something to anybody (a range, a digest, no-transform) stays as it is, and one
// that would differ for another client says so (Vary), compressed or not.

import { type HeadView, spells, tokensOf, valueAt } from "./head-view.ts";
import { hasNoBody, type ResponseScan } from "./response-head.ts";

/** The one we like best first: Zstandard packs as well as Brotli does at this speed, in a fraction of gzip's time. */
const CODINGS = ["zstd", "br", "gzip"] as const;
export type Coding = (typeof CODINGS)[number];

/** Below this a packet is one packet either way. */
const LEAST_COMPRESSED_BYTES = 1_024;

const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)[\w.+-]+|[\w.+/-]+\+(?:json|xml)|application\/(?:json|javascript|xml|wasm|rtf|x-javascript|manifest\+json|vnd\.ms-fontobject)|font\/(?:ttf|otf)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))\s*(?:;|$)/i;

/** Is content of this type made smaller by compression? */
function isCompressibleType(contentType: string): boolean {
  return COMPRESSIBLE.test(contentType);
}

/** The coding a client takes (its Accept-Encoding) that it likes best, then we; null: as it is. */
export function chooseCoding(accepted: string, codings: readonly Coding[] = CODINGS): Coding | null {
  const weights = new Map<string, number>();
  for (const item of tokensOf(accepted)) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2);
    const weight =
      quality === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0;
    weights.set(name === "x-gzip" ? "gzip" : name, weight);
  }
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get("*") ?? 0;
  let best: Coding | null = null;
  for (const coding of codings) if (weightOf(coding) > (best === null ? 0 : weightOf(best))) best = coding;
  return best !== null && weightOf(best) >= (weights.get("identity") ?? 0) ? best : null;
}

const READ = [
  "etag",
  "vary",
  "trailer",
  "cache-control",
  "content-type",
  "content-range",
  "accept-ranges",
  "content-encoding",
  "content-length",
  "x-accel-buffering",
  "digest",
  "content-md5",
  "repr-digest",
  "content-digest",
] as const;
type ReadName = (typeof READ)[number];
/** With one of these the bytes are to arrive as they were sent, or when they were. */
const FIXED: readonly ReadName[] = [
  "trailer",
  "content-range",
  "digest",
  "content-md5",
  "repr-digest",
  "content-digest",
];

interface Found {
  readonly values: Map<ReadName, string>;
  readonly indexes: Map<ReadName, number[]>;
}

function readHeaders(view: HeadView): Found {
  const values = new Map<ReadName, string>();
  const indexes = new Map<ReadName, number[]>();
  for (let index = 0; index * 4 < view.spans.length; index++) {
    const start = view.spans[index * 4] ?? 0;
    const size = (view.spans[index * 4 + 1] ?? 0) - start;
    const name = READ.find((one) => one.length === size && spells(view.text, start, one));
    if (name === undefined) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? valueAt(view, index) : `${before}, ${valueAt(view, index)}`);
    indexes.set(name, [...(indexes.get(name) ?? []), index]);
  }
  return { values, indexes };
}

interface Answer {
  readonly method: string;
  readonly status: number;
  readonly view: HeadView;
  readonly scan: ResponseScan;
}

/** May this answer be compressed for a client that takes it? */
function isCompressible({ method, status, scan }: Answer, values: Found["values"]): boolean {
  if (hasNoBody(method, status) || status === 205 || status === 206) return false;
  if (scan.length !== null && scan.length < LEAST_COMPRESSED_BYTES) return false;
  if (!isCompressibleType(values.get("content-type") ?? "")) return false;
  if ((values.get("content-encoding") ?? "identity").toLowerCase() !== "identity") return false;
  if (tokensOf(values.get("cache-control") ?? "").includes("no-transform")) return false;
  if (values.get("x-accel-buffering")?.toLowerCase() === "no") return false;
  return !FIXED.some((name) => values.has(name));
}

/**
 * How the answer goes on: with `coding`, its head as `scan` says (the upstream's own framing is the caller's). The same
 * `scan` comes back where nothing is to be said. `mayCode`: there is room for one more.
 */
export function compressedHead(
  answer: Answer,
  accepted: () => string,
  mayCode: boolean,
): { readonly coding: Coding | null; readonly scan: ResponseScan } {
  const { view, scan } = answer;
  const { values, indexes } = readHeaders(view);
  if (!isCompressible(answer, values)) return { coding: null, scan };
  const coding = mayCode ? chooseCoding(accepted()) : null;
  const dropped = new Set(scan.dropped);
  const added: string[] = [];
  const replace = (name: ReadName, header: string, value: string | null) => {
    for (const index of indexes.get(name) ?? []) dropped.add(index);
    if (value !== null) added.push(header, value);
  };
  const vary = values.get("vary") ?? "";
  if (!tokensOf(vary).some((one) => one === "*" || one === "accept-encoding"))
    replace("vary", "Vary", vary === "" ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
  if (coding !== null) {
    replace("content-encoding", "Content-Encoding", coding);
    replace("content-length", "", null);
    replace("accept-ranges", "", null);
    const etag = values.get("etag");
    // Equal in meaning, not byte for byte.
    if (etag?.startsWith('"')) replace("etag", "ETag", `W/${etag}`);
  }
  const head = { ...scan, added, dropped: [...dropped].sort((a, b) => a - b) };
  return { coding, scan: coding === null ? head : { ...head, length: null, chunked: false } };
}

/** All Accept-Encoding lines of a request's head, as one value. */
export function acceptedIn(requestHead: string): string {
  return [...requestHead.matchAll(/\r\naccept-encoding:([^\r\n]*)/gi)].map(([, value]) => value ?? "").join(",");
}
