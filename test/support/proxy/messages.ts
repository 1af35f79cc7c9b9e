// A small, independent reader of HTTP/1.1 messages for tests, and upstream scripts built on it.
// It is lenient on purpose: a test's own expectations are the strict part.

import type { Socket } from "node:net";

export interface Message {
  readonly first: string;
  /** Lower-case names, as a list: repeated ones stay. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly trailers: readonly (readonly [string, string])[];
  readonly raw: string;
}

export function header(message: Message, name: string): string | null {
  return message.headers.find(([key]) => key === name)?.[1] ?? null;
}

export interface ReadOptions {
  /** For answers: the method asked with, so that a HEAD's answer has no body. */
  readonly method?: string;
  readonly answer?: boolean;
  /** The connection ended: a body without length is complete. */
  readonly ended?: boolean;
}

/** The first message of `text` and what follows it; null while it is not complete. */
export function readMessage(text: string, options: ReadOptions = {}): { message: Message; rest: string } | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const [first = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = lines.map(splitHeader);
  const at = headEnd + 4;
  const find = (name: string) => headers.find(([key]) => key === name)?.[1];
  const done = (body: string, end: number, trailers: readonly (readonly [string, string])[] = []) => ({
    message: { first, headers, body, trailers, raw: text.slice(0, end) },
    rest: text.slice(end),
  });
  if (options.answer) {
    const status = Number(first.split(" ")[1]);
    if (options.method === "HEAD" || status === 204 || status === 304 || status < 200) return done("", at);
  }
  if (find("transfer-encoding")?.toLowerCase() === "chunked") return readChunked(text, at, done);
  const length = find("content-length");
  if (length !== undefined) {
    const end = at + Number(length);
    return text.length < end ? null : done(text.slice(at, end), end);
  }
  if (options.answer) return options.ended ? done(text.slice(at), text.length) : null;
  return done("", at);
}

function readChunked<T>(
  text: string,
  from: number,
  done: (body: string, end: number, trailers: readonly (readonly [string, string])[]) => T,
): T | null {
  let at = from;
  let body = "";
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return null;
    at = lineEnd + 2;
    if (size === 0) {
      const end = text.startsWith("\r\n", at) ? at : text.indexOf("\r\n\r\n", at);
      if (end < 0 || (end === at && !text.startsWith("\r\n", at))) return null;
      const lines = end === at ? [] : text.slice(at, end).split("\r\n");
      return done(body, end === at ? at + 2 : end + 4, lines.map(splitHeader));
    }
    if (text.length < at + size + 2) return null;
    body += text.slice(at, at + size);
    at += size + 2;
  }
}

function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Calls `take` for every whole request on the socket, in order. */
export function onRequests(socket: Socket, take: (request: Message) => void): void {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (let read = readMessage(text); read !== null; read = readMessage(text)) {
      text = read.rest;
      take(read.message);
    }
  });
}

/** Every whole answer in `text` to requests of these methods. */
export function readAnswers(text: string, methods: readonly string[], ended = false): Message[] {
  const answers: Message[] = [];
  let rest = text;
  for (const method of methods) {
    let read = readMessage(rest, { answer: true, method, ended });
    // 1xx come before the answer itself.
    while (read !== null && /^HTTP\/1\.1 1(?!01)/.test(read.message.first)) {
      rest = read.rest;
      read = readMessage(rest, { answer: true, method, ended });
    }
    if (read === null) break;
    answers.push(read.message);
    rest = read.rest;
  }
  return answers;
}

/** An upstream that answers every request with what it got: method, target and body as JSON. */
export function echoScript(id: string): (socket: Socket) => void {
  return (socket) =>
    onRequests(socket, (request) => {
      const [method, target] = request.first.split(" ");
      const body = JSON.stringify({ id, method, target, body: request.body });
      const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Instance: ${id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
      socket.write(method === "HEAD" ? head : head + body);
    });
}
