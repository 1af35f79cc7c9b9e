// The public listening sockets: bound here or inherited, handed on to a successor, capped in connections.
// Invariant: a descriptor shared with a successor stays open there, so the accept queue outlives this process.

import { createServer, type Server, type Socket } from "node:net";
import type { ListenAddress } from "../../config/config.ts";
import { invariant, OwlError } from "../../config/errors.ts";
import { NO_CONTEXT, rawAnswer } from "./answers.ts";
import type { Counters } from "./counters.ts";

const BACKLOG = 4_096;

interface ListenerDeps {
  readonly addresses: readonly ListenAddress[];
  /** Inherited descriptors in the same order; null or missing: bind. */
  readonly descriptors: readonly (number | null)[] | null;
  readonly mostConnections: number;
  readonly counters: Counters;
  /** `address`: index in `addresses`. Returns the socket the connection lives on from now. */
  readonly accept: (socket: Socket, address: number) => Socket;
}

interface Listener {
  /** Resolves when every address accepts. Throws OwlError `proxy.listenFailed`. */
  start(): Promise<void>;
  /** Stops accepting in this process; connections accepted so far live on. */
  close(): void;
  /** The open listening descriptors, in order: a child may inherit them. */
  descriptors(): readonly number[];
  /** `host:port` of each, as bound. */
  listening(): readonly string[];
}

export function createListener(deps: ListenerDeps): Listener {
  const { counters } = deps;
  // One function for all: what a closure of each connection held would live as long as the connection.
  const closed = () => {
    counters.connections--;
  };
  const servers = deps.addresses.map((_, address) =>
    createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
      if (counters.connections + counters.furtherStreams >= deps.mostConnections) {
        refuse(socket, counters);
        return;
      }
      counters.connections++;
      deps.accept(socket, address).on("close", closed);
    }),
  );

  return {
    descriptors: () => servers.map(descriptorOf),
    async start() {
      await Promise.all(
        servers.map((server, index) => listen(server, deps.addresses[index], deps.descriptors?.[index])),
      );
    },
    close() {
      for (const server of servers) if (server.listening) server.close();
    },
    listening: () =>
      servers.flatMap((server) => {
        const address = server.address();
        if (address === null || typeof address === "string") return [];
        return [`${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`];
      }),
  };
}

function refuse(socket: Socket, counters: Counters): void {
  counters.refuse("connectionCap");
  socket.on("error", () => {});
  socket.end(rawAnswer("connectionCap", NO_CONTEXT), () => socket.destroy());
}

/** Node shows the descriptor of a server nowhere but on its handle. */
function descriptorOf(server: Server): number {
  const { _handle: handle } = server as Server & { readonly _handle?: { readonly fd?: number } | null };
  const descriptor = handle?.fd;
  invariant(descriptor !== undefined && descriptor >= 0, "a listening server has a descriptor");
  return descriptor;
}

function listen(server: Server, address?: ListenAddress, descriptor?: number | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const where = address === undefined ? "?" : `${address.host}:${address.port}`;
    server.once("error", (cause) => {
      reject(
        new OwlError("proxy.listenFailed", `The proxy cannot listen on ${where}: ${cause.message}.`, {
          next: `See what holds the port: ss -ltnp 'sport = :${address?.port ?? ""}'`,
          cause,
        }),
      );
    });
    server.listen(
      descriptor === undefined || descriptor === null
        ? { host: address?.host ?? "127.0.0.1", port: address?.port ?? 0, backlog: BACKLOG }
        : { fd: descriptor },
      () => {
        server.removeAllListeners("error");
        server.on("error", () => {});
        resolve();
      },
    );
  });
}
