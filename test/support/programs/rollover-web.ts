// A web service whose every kind of traffic can be audited from outside: GET, POST noted on disk before it is answered,
// event streams that continue from Last-Event-ID, WebSockets that echo. It knows nothing of its replacement but SIGTERM.
// COUNT_DIR: a file for each instance, a line for each executed POST.

import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

const { OWL_SOCKET = "", OWL_INSTANCE = "", COUNT_DIR = "" } = process.env;
/** Event n happens at n times this, everywhere: any instance can tell what came after another one's last. */
const EVENT_MS = 100;
const WS_KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const eventNow = () => Math.floor(Date.now() / EVENT_MS);
const streams = new Map<ServerResponse, number>();

function catchUp(response: ServerResponse, last: number): void {
  const now = eventNow();
  let text = "";
  for (let n = last + 1; n <= now; n++) text += `id: ${n}\ndata: ${OWL_INSTANCE}\n\n`;
  if (text !== "") response.write(text);
  streams.set(response, now);
}

function events(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const last = request.headers["last-event-id"];
  catchUp(response, last === undefined ? eventNow() - 1 : Number(last));
  response.on("close", () => streams.delete(response));
}

const server = createServer((request, response) => {
  const { url = "/", method } = request;
  if (url === "/events") {
    events(request, response);
    return;
  }
  if (method !== "POST") {
    response.end(OWL_INSTANCE);
    return;
  }
  let body = "";
  request.on("data", (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on("end", () => {
    appendFileSync(`${COUNT_DIR}/${OWL_INSTANCE}`, `${body}\n`);
    response.end(body);
  });
});
server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${WS_KEY}`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let held = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (let frame = readFrame(held); frame !== null; frame = readFrame(held)) {
      held = held.subarray(frame.size);
      if (frame.opcode === 8) socket.end();
      else socket.write(Buffer.concat([Buffer.from([0x81, frame.payload.length]), frame.payload]));
    }
  });
});

/** A client's whole frame of under 126 bytes at the start of `bytes`, unmasked; null while there is none. */
function readFrame(bytes: Buffer): { opcode: number; size: number; payload: Buffer } | null {
  if (bytes.length < 6) return null;
  const length = (bytes[1] ?? 0) & 0x7f;
  if (bytes.length < 6 + length) return null;
  const payload = Buffer.from(bytes.subarray(6, 6 + length));
  for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (bytes[2 + (at % 4)] ?? 0);
  return { opcode: (bytes[0] ?? 0) & 0x0f, size: 6 + length, payload };
}

const ticking = setInterval(() => {
  for (const [response, last] of streams) catchUp(response, last);
}, EVENT_MS);
server.listen({ path: OWL_SOCKET, backlog: 4_096 });
process.on("SIGTERM", () => {
  clearInterval(ticking);
  for (const response of streams.keys()) response.end();
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
