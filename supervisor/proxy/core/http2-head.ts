// A request's header list of HTTP/2 as a head of HTTP/1.1, so that one judge reads both, and an answer's the other way.
// Invariant: what comes out has one Host, one Cookie, no character a line could end with, and nothing of the connection.

import type { HeadView } from "./head-view.ts";

export interface ListedHead {
  readonly method: string;
  readonly target: string;
  readonly view: HeadView;
}

const METHOD = /^[A-Z-]{1,32}$/;
const TARGET = /^[\x21-\x7e]+$/;
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** `list`: name, value, name, value ... as received; `endsHere`: no body follows. null: malformed. */
export function headOfList(list: readonly string[], endsHere: boolean): ListedHead | null {
  const pseudo = new Map<string, string>();
  let host: string | null = null;
  let cookie: string | null = null;
  let isChunked = !endsHere;
  const head = new GrowingHead();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? "";
    const value = list[at + 1] ?? "";
    if (name.startsWith(":")) {
      if (pseudo.has(name)) return null;
      pseudo.set(name, value);
      continue;
    }
    if (!NAME.test(name) || !VALUE.test(value) || OF_THE_CONNECTION.has(name)) return null;
    if (name === "content-length") isChunked = false;
    if (name === "cookie") cookie = cookie === null ? value : `${cookie}; ${value}`;
    else if (name !== "host") head.add(name, value);
    else if (host !== null) return null;
    else host = value;
  }
  const authority = pseudo.get(":authority");
  if (host !== null && authority !== undefined && host.toLowerCase() !== authority.toLowerCase()) return null;
  const named = authority ?? host;
  const method = pseudo.get(":method") ?? "";
  // CONNECT has no path; it is refused for what it is.
  const target = pseudo.get(":path") ?? (method === "CONNECT" ? (named ?? "") : "");
  if (named === null || !VALUE.test(named) || !METHOD.test(method) || !TARGET.test(target)) return null;
  head.add("host", named);
  if (isChunked) head.add("transfer-encoding", "chunked");
  if (cookie !== null) head.add("cookie", cookie);
  return { method, target, view: head };
}

/** Bytes of the list, counted as HTTP/1.1 would carry it. */
export function listBytes(list: readonly string[]): number {
  let bytes = 0;
  for (const part of list) bytes += part.length + 2;
  return bytes;
}

/** Trailers as they came, for what HTTP/1.1 makes of them; null: malformed. */
export function trailersOfList(list: readonly string[]): HeadView | null {
  const head = new GrowingHead();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? "";
    const value = list[at + 1] ?? "";
    if (!NAME.test(name) || !VALUE.test(value)) return null;
    head.add(name, value);
  }
  return head;
}

class GrowingHead implements HeadView {
  text = "";
  readonly spans: number[] = [];

  add(name: string, value: string): void {
    const start = this.text.length;
    const valueStart = start + name.length + 2;
    this.text += `${name}: ${value}\r\n`;
    this.spans.push(start, start + name.length, valueStart, valueStart + value.length);
  }
}

/** The headers that are not in `dropped` (indexes, ascending) as a list: lower-case name, value, ... */
export function listOfHead(view: HeadView, dropped: readonly number[]): string[] {
  const { text, spans } = view;
  const list: string[] = [];
  let drop = 0;
  for (let index = 0; index * 4 < spans.length; index++) {
    if (dropped[drop] === index) {
      drop++;
      continue;
    }
    const at = index * 4;
    list.push(
      text.substring(spans[at] ?? 0, spans[at + 1]).toLowerCase(),
      text.substring(spans[at + 2] ?? 0, spans[at + 3]).trim(),
    );
  }
  return list;
}

/** A list as an object, for where only that is taken. */
export function objectOfList(list: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? "";
    const value = list[at + 1] ?? "";
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}
