// TLS in front of the engine: certificate files re-read when they change, and the redirect from plain HTTP.
// Invariant: a certificate that cannot be read or used never replaces one that works.

import { readFileSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type TLSSocket } from "node:tls";
import { asError, OwlError } from "../../config/errors.ts";
import type { Challenge } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";
import { NO_CONTEXT, rawAnswer } from "./answers.ts";
import { challengeAnswer, createChallengeDoor } from "./challenges.ts";
import { hostName } from "./core/route-match.ts";
import type { Counters } from "./counters.ts";
import { LINGER_SILENCE_MS } from "./limits.ts";
import type { Log } from "./log.ts";

const LOOK_MS = 2_000;
const REDIRECT_HEAD_BYTES = 16 * 1024;

export interface TlsDeps {
  readonly cert: string;
  readonly key: string;
  readonly offersHttp2: boolean;
  readonly handshakeTimeoutMs: number;
  /** What a certificate authority asks for now. */
  readonly challenges: () => readonly Challenge[];
  readonly clock: Clock;
  readonly counters: Counters;
  readonly log: Log;
  readonly accept: (socket: TLSSocket) => void;
}

export interface TlsFront {
  /** Takes an accepted TCP connection. */
  take(socket: Socket): void;
  /** Looks at the files once; called by the watch, and by tests. */
  look(): void;
  stop(): void;
}

/** Throws OwlError `proxy.badCertificate` when the files cannot be used at start. */
export function createTlsFront(deps: TlsDeps): TlsFront {
  let seen = stamp(deps);
  let files: { cert: Buffer; key: Buffer };
  try {
    files = readFiles(deps);
  } catch (error) {
    throw new OwlError("proxy.badCertificate", `The certificate cannot be used: ${asError(error).message}.`, {
      next: "Check proxy.tls.cert and proxy.tls.key: both PEM, belonging together, readable.",
      cause: error,
    });
  }
  const server = createServer({
    ...files,
    ALPNProtocols: deps.offersHttp2 ? ["h2", "http/1.1"] : ["http/1.1"],
    minVersion: "TLSv1.2",
    handshakeTimeout: deps.handshakeTimeoutMs,
  });
  server.on("secureConnection", (socket) => deps.accept(socket));
  server.on("tlsClientError", (_error, socket) => {
    deps.counters.refuse("tlsFailed");
    socket.destroy();
  });
  const enter = createChallengeDoor({
    challenges: deps.challenges,
    timeoutMs: deps.handshakeTimeoutMs,
    clock: deps.clock,
    pass: (socket) => server.emit("connection", socket),
  });
  const watch = new AbortController();
  void watchFiles();

  async function watchFiles(): Promise<void> {
    for await (const _ of deps.clock.every(LOOK_MS, watch.signal)) look();
  }

  function look(): void {
    const now = stamp(deps);
    if (now === seen) return;
    try {
      server.setSecureContext(readFiles(deps));
      seen = now;
      deps.log.info({ cert: deps.cert }, "the certificate was read again");
    } catch (error) {
      // Cert and key are replaced one after the other: until they fit, the old pair serves.
      deps.log.warn({ cert: deps.cert, error: asError(error).message }, "the new certificate cannot be used yet");
    }
  }

  return {
    take(socket) {
      socket.on("error", () => socket.destroy());
      enter(socket);
    },
    look,
    stop: () => watch.abort(),
  };
}

function readFiles({ cert, key }: TlsDeps): { cert: Buffer; key: Buffer } {
  const files = { cert: readFileSync(cert), key: readFileSync(key) };
  createSecureContext(files);
  return files;
}

/** Changes when either file does; a missing file is a change too. */
function stamp({ cert, key }: TlsDeps): string {
  return [cert, key]
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? "gone" : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
    })
    .join(" ");
}

interface RedirectParts {
  /** Where TLS listens. */
  readonly port: number;
  readonly timeoutMs: number;
  readonly challenges: () => readonly Challenge[];
  readonly clock: Clock;
  readonly counters: Counters;
}

/** Answers one plain request with the same address under https, or an authority's with what it asks for, and closes. */
export function redirectToTls(socket: Socket, { port, timeoutMs, challenges, clock, counters }: RedirectParts): void {
  let head = "";
  const cancel = clock.after(timeoutMs, () => socket.destroy(), { unref: true });
  socket.on("close", cancel);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    if (socket.writableEnded) return;
    head += chunk.toString("latin1");
    if (!head.includes("\r\n\r\n") && head.length <= REDIRECT_HEAD_BYTES) return;
    const challenge = challengeAnswer(head, challenges());
    if (challenge === null) counters.refuse("redirected");
    socket.end(challenge ?? redirectAnswer(head, port));
    clock.after(LINGER_SILENCE_MS, () => socket.destroy(), { unref: true });
  });
}

/** 308 with the same host and target, or 400 when the head has none that could be trusted. */
export function redirectAnswer(head: string, port: number): Buffer {
  const target = /^[A-Z]+ (\/[\x21-\x7e]*) HTTP\/1\.[01]\r\n/.exec(head)?.[1];
  const host = /\r\nhost:[ \t]*([A-Za-z0-9.:[\]-]+)[ \t]*\r\n/i.exec(head)?.[1];
  if (target === undefined || host === undefined) return rawAnswer("badRequest", NO_CONTEXT);
  const location = `https://${hostName(host)}${port === 443 ? "" : `:${port}`}${target}`;
  return Buffer.from(
    `HTTP/1.1 308 Permanent Redirect\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    "latin1",
  );
}
