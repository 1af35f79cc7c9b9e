// Writing messages: heads as latin1 text, small bodies joined to them in one write, large ones as they lie.

import type { Socket } from "node:net";
import { keptLines } from "../core/head-view.ts";
import { droppedTrailers } from "../core/response-head.ts";
import type { MessageParser } from "./llhttp.ts";
import { latin1Of } from "./read-buffers.ts";

/** Up to here text and body become one string, which Node sends from the stack in one write. */
const JOIN_BYTES = 15 * 1024;
/** From here on they are put together as bytes instead: a string of a body costs its size twice over. */
const PACK_BYTES = 1_024;
const PACKET_BYTES = 64 * 1024;
/** Written to learn, by its callback, that everything before it is out. */
export const NOTHING: Buffer = Buffer.alloc(0);

interface Parts {
  readonly bytes: Buffer;
  /** Start, end, start, end ... in `bytes`. */
  readonly parts: readonly number[];
  /** Sum of the parts. */
  readonly length: number;
  /** False: `bytes` is reused after the call, so what cannot be sent at once must be a copy. */
  readonly owned: boolean;
}

/** Sends `head`, the parts (as one chunk when `chunked`), then `tail`. */
export function writeParts(socket: Socket, head: string, body: Parts, chunked: boolean, tail: string): void {
  const { bytes, parts, length } = body;
  if (length === 0) {
    const text = head + tail;
    if (text !== "") socket.write(text, "latin1");
    return;
  }
  const before = chunked ? `${head}${length.toString(16)}\r\n` : head;
  const after = chunked ? `\r\n${tail}` : tail;
  if (length >= PACK_BYTES && (length <= JOIN_BYTES || !body.owned) && pack(socket, before, body, after)) return;
  if (length <= JOIN_BYTES) {
    let text = before;
    for (let at = 0; at < parts.length; at += 2) text += latin1Of(bytes, parts[at] ?? 0, parts[at + 1] ?? 0);
    socket.write(text + after, "latin1");
    return;
  }
  const isOne = before === "" && after === "" && parts.length === 2;
  if (!isOne) socket.cork();
  if (before !== "") socket.write(before, "latin1");
  for (let at = 0; at < parts.length; at += 2) {
    const part = bytes.subarray(parts[at], parts[at + 1]);
    socket.write(body.owned ? part : Buffer.from(part));
  }
  if (after !== "") socket.write(after, "latin1");
  if (!isOne) socket.uncork();
}

/** Where a message's parts are put together. Invariant: no write that is not out refers to it. */
let packet: Buffer & Latin1Writer = Buffer.allocUnsafeSlow(PACKET_BYTES) as Buffer & Latin1Writer;

/** Buffer's own method, which its types leave out and which skips the encoding look-up. */
interface Latin1Writer {
  latin1Write(text: string, at: number): number;
}

/** One write of all; false: it does not fit, or the socket would hold on to it (TLS writes later). */
function pack(socket: Socket & { readonly encrypted?: boolean }, before: string, body: Parts, after: string): boolean {
  if (before.length + body.length + after.length > PACKET_BYTES || socket.encrypted === true) return false;
  const { bytes, parts } = body;
  let end = packet.latin1Write(before, 0);
  for (let at = 0; at < parts.length; at += 2) end += bytes.copy(packet, end, parts[at], parts[at + 1]);
  if (after !== "") end += packet.latin1Write(after, end);
  socket.write(packet.subarray(0, end));
  if (socket.writableLength > 0) packet = Buffer.allocUnsafeSlow(PACKET_BYTES) as Buffer & Latin1Writer;
  return true;
}

/** Sum of parts (start, end, ...). */
export function lengthOf(parts: readonly number[]): number {
  let length = 0;
  for (let at = 0; at < parts.length; at += 2) length += (parts[at + 1] ?? 0) - (parts[at] ?? 0);
  return length;
}

/** The last chunk, with the trailers that go on. */
export function lastChunk(message: MessageParser | null): string {
  const trailers = message?.trailers ?? null;
  return trailers === null ? "0\r\n\r\n" : `0\r\n${keptLines(trailers, droppedTrailers(trailers))}\r\n`;
}

/** HTTP/1.1 status line of an answer as received. */
export function statusLine(head: MessageParser): string {
  return `HTTP/1.1 ${head.status} ${head.text.substring(head.lineStart, head.lineEnd)}\r\n`;
}
