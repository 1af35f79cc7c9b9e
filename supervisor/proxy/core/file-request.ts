// What a request asks of a directory that a route serves: which file, under which conditions, which part of it
// (RFC 9110). Pure. Invariant: a name that leads out of the directory, or to what is hidden, names nothing.

/** No file system has longer ones. */
const MOST_PATH = 4_096;
const WELL_KNOWN = ".well-known";

/**
 * The file that `path` (as it was asked, without query) names below its route; "" or a `/` at the end: a directory.
 * null: nothing that may be served.
 */
export function fileBelow(routePath: string, path: string): string | null {
  const rest = routePath === "/" ? path : path.slice(routePath.length);
  if (rest.length > MOST_PATH) return null;
  let decoded: string;
  try {
    decoded = decodeURIComponent(rest);
  } catch {
    return null;
  }
  const names = decoded.split("/").filter((name, index, all) => name !== "" || index === all.length - 1);
  if (names.some((name, index) => name.startsWith(".") && !(index === 0 && name === WELL_KNOWN))) return null;
  return names.some((name) => /[\0\\]/.test(name)) ? null : names.join("/");
}

interface FileFacts {
  readonly etag: string;
  readonly modifiedMs: number;
  readonly bytes: number;
}

interface Conditions {
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

type Wanted =
  | { readonly kind: "whole" | "notModified" | "outOfRange" }
  /** From `start` to `end`, both in it. */
  | { readonly kind: "part"; readonly start: number; readonly end: number };

export function wantedOf(file: FileFacts, asked: Conditions): Wanted {
  if (isKnown(file, asked)) return { kind: "notModified" };
  const { range, ifRange } = asked;
  if (range === undefined || (ifRange !== undefined && !isSame(file, ifRange))) return { kind: "whole" };
  // Several parts at once are answered with the whole, as anybody may.
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.replaceAll(" ", ""));
  if (found === null || (found[1] === "" && found[2] === "")) return { kind: "whole" };
  const [first, last] = [found[1] ?? "", found[2] ?? ""];
  const start = first === "" ? Math.max(0, file.bytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? file.bytes - 1 : Math.min(Number(last), file.bytes - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return { kind: "whole" };
  return start >= file.bytes || end < start ? { kind: "outOfRange" } : { kind: "part", start, end };
}

/** The client has it already. */
function isKnown({ etag, modifiedMs }: FileFacts, { ifNoneMatch, ifModifiedSince }: Conditions): boolean {
  if (ifNoneMatch !== undefined) {
    const known = ifNoneMatch.split(",").map((one) => one.trim().replace(/^W\//, ""));
    return known.includes("*") || known.includes(etag);
  }
  const since = ifModifiedSince === undefined ? Number.NaN : Date.parse(ifModifiedSince);
  return Math.floor(modifiedMs / 1_000) * 1_000 <= since;
}

/** `ifRange` names this very state of the file. */
function isSame({ etag, modifiedMs }: FileFacts, ifRange: string): boolean {
  if (ifRange.startsWith('"') || ifRange.startsWith("W/")) return ifRange === etag;
  return Date.parse(ifRange) === Math.floor(modifiedMs / 1_000) * 1_000;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  htm: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  webmanifest: "application/manifest+json",
  xml: "application/xml",
  txt: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  ico: "image/x-icon",
  woff: "font/woff",
  woff2: "font/woff2",
  ttf: "font/ttf",
  otf: "font/otf",
  wasm: "application/wasm",
  pdf: "application/pdf",
  zip: "application/zip",
  gz: "application/gzip",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  webm: "video/webm",
};

export function typeOf(file: string): string {
  return TYPES[/\.([A-Za-z0-9]+)$/.exec(file)?.[1]?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

/** Pages name what belongs to them, so they are asked for anew each time. */
export function cacheLine(file: string, cacheS: number | null): string {
  return isKept(file, cacheS) ? `public, max-age=${cacheS}` : "no-cache";
}

/** Whether a client may keep it without asking: no page. */
export const isKept = (file: string, cacheS: number | null): boolean =>
  cacheS !== null && cacheS !== 0 && !/\.html?$/i.test(file);
