// What a certificate authority asks to see that a name is ours: answered by whichever proxy process it reaches, on the
// plain port (HTTP-01) or on the TLS port by a protocol name of its own (TLS-ALPN-01).
// Invariant: nothing of it is looked at while no certificate is being ordered.

import type { Socket } from "node:net";
import { createSecureContext, createServer } from "node:tls";
import type { Challenge } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";

const PATH = "/.well-known/acme-challenge/";
const PROTOCOL = "acme-tls/1";

type ChallengeOf<Kind extends Challenge["kind"]> = Extract<Challenge, { kind: Kind }>;

/** The whole answer to a request for the token's file; null: it asks for something else. */
export function challengeAnswer(head: string, challenges: readonly Challenge[]): Buffer | null {
  const found = challenges.find(
    (one): one is ChallengeOf<"http"> => one.kind === "http" && head.startsWith(`GET ${PATH}${one.token} HTTP/1.`),
  );
  if (found === undefined) return null;
  const { answer } = found;
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${answer.length}\r\nConnection: close\r\n\r\n${answer}`,
    "latin1",
  );
}

interface ChallengeDoorParts {
  readonly challenges: () => readonly Challenge[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Everybody else. */
  readonly pass: (socket: Socket) => void;
}

/** In front of TLS: takes the authority's connections away from the others. */
export function createChallengeDoor({ challenges, timeoutMs, clock, pass }: ChallengeDoorParts) {
  const asked = (): readonly ChallengeOf<"alpn">[] => challenges().filter((one) => one.kind === "alpn");
  const server = createServer({
    ALPNProtocols: [PROTOCOL],
    minVersion: "TLSv1.2",
    handshakeTimeout: timeoutMs,
    SNICallback(name, done) {
      const found = asked().find(({ host }) => host === name.toLowerCase());
      if (found === undefined) done(new Error("no challenge for that name"));
      else done(null, createSecureContext({ cert: found.pem, key: found.pem }));
    },
  });
  // It has seen the certificate: that was all.
  server.on("secureConnection", (socket) => socket.on("error", () => undefined).end());
  server.on("tlsClientError", (_error, socket) => socket.destroy());

  return function take(socket: Socket): void {
    if (asked().length === 0) {
      pass(socket);
      return;
    }
    const cancel = clock.after(timeoutMs, () => socket.destroy(), { unref: true });
    socket.once("close", cancel);
    socket.once("data", (hello: Buffer) => {
      cancel();
      socket.pause();
      // TLS reads first what the socket holds already.
      socket.unshift(hello);
      // An authority's greeting is short and names the one protocol it speaks, so it comes in one piece.
      if (hello.includes(PROTOCOL)) server.emit("connection", socket);
      else pass(socket);
    });
  };
}
