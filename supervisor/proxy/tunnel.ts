// A tunnel after 101: bytes both ways, unread but for WebSocket frame boundaries, back-pressure both ways.
// Invariant: when one side ends, the other gets every byte sent before and then its end.

import type { Socket } from "node:net";
import type { Clock } from "../../config/time.ts";
import { closeFrame, FrameTracker, SERVICE_RESTART } from "./core/websocket-frames.ts";
import type { MovableStream } from "./upstreams.ts";

/** How long a moved tunnel may take to reach a frame's end, and then to be closed by the client. */
const MOVE_MS = 1_000;

interface TunnelDeps {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly clock: Clock;
  readonly isWebSocket: boolean;
  /** Bytes that arrived with the heads. */
  readonly firstFromClient: Buffer | null;
  readonly firstFromUpstream: Buffer | null;
  /** How to get a side's bytes when its socket reads into a buffer of its own; absent: its `data` events. */
  readonly upstreamData?: (take: (chunk: Buffer) => void) => void;
  readonly clientData?: (take: (chunk: Buffer) => void) => void;
  readonly passed: (direction: "in" | "out", bytes: number) => void;
  /** Once, when both sides are closed. */
  readonly ended: () => void;
}

/** A socket given up for a tunnel. */
export interface TunnelEnd {
  readonly socket: Socket;
  /** Bytes that came already. */
  readonly first: Buffer | null;
  /** How to get those to come; null: by its `data` events. */
  readonly data: ((take: (chunk: Buffer) => void) => void) | null;
}

/** Joins the two sockets; both must be past their heads, in flowing mode or about to be. */
export function openTunnel(deps: TunnelDeps): MovableStream {
  const { client, upstream, clock } = deps;
  const frames = deps.isWebSocket ? new FrameTracker() : null;
  let moving = false;
  let over = false;

  const close = () => {
    if (over) return;
    over = true;
    client.destroy();
    upstream.destroy();
    deps.ended();
  };
  const toUpstream = (chunk: Buffer) => {
    deps.passed("in", chunk.length);
    if (!upstream.write(chunk)) client.pause();
  };
  const toClient = (chunk: Buffer) => {
    if (moving) {
      finishFrame(chunk);
      return;
    }
    frames?.push(chunk);
    deps.passed("out", chunk.length);
    if (!client.write(chunk)) upstream.pause();
  };
  /** Only the rest of the frame under way still goes out, then our close frame. */
  const finishFrame = (chunk: Buffer) => {
    if (frames === null || frames.atBoundary) return;
    const end = frames.endsWithin(chunk);
    client.write(end < 0 ? chunk : chunk.subarray(0, end));
    if (end >= 0) sayGoodbye();
  };
  const sayGoodbye = () => {
    if (deps.isWebSocket) {
      client.write(closeFrame(SERVICE_RESTART, false));
      upstream.write(closeFrame(SERVICE_RESTART, true));
    }
    client.end();
  };

  if (deps.clientData === undefined) client.on("data", toUpstream);
  else deps.clientData(toUpstream);
  if (deps.upstreamData === undefined) upstream.on("data", toClient);
  else deps.upstreamData(toClient);
  client.on("drain", () => upstream.resume());
  upstream.on("drain", () => client.resume());
  client.on("end", () => upstream.end());
  upstream.on("end", () => client.end());
  for (const socket of [client, upstream]) {
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on("error", close);
  }
  client.on("close", () => {
    if (!upstream.writableEnded) upstream.end();
    if (upstream.destroyed || moving) close();
    else clock.after(MOVE_MS, close, { unref: true });
  });
  upstream.on("close", () => {
    if (!client.writableEnded) client.end();
    if (client.destroyed) close();
    else clock.after(MOVE_MS, close, { unref: true });
  });
  if (deps.firstFromUpstream !== null && deps.firstFromUpstream.length > 0) toClient(deps.firstFromUpstream);
  if (deps.firstFromClient !== null && deps.firstFromClient.length > 0) toUpstream(deps.firstFromClient);
  client.resume();
  upstream.resume();

  return {
    move() {
      if (over || moving) return;
      moving = true;
      if (frames === null || frames.atBoundary) sayGoodbye();
      clock.after(MOVE_MS, close, { unref: true });
    },
  };
}

/** The head of a 101 answer. `lines`: its header lines, each with CRLF, without Connection and Upgrade. */
export function switchingHead(lines: string, protocol: string): string {
  const kept = lines.replace(/^content-length:[^\n]*\n/gim, "");
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${kept}\r\n`;
}
