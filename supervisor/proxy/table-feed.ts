// The feed: owld (or a predecessor) connects to our socket in the run directory and speaks JSON lines.
// Invariant: a table is acknowledged only after it is in force. Losing the connection changes nothing.

import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { OwlError } from "../../config/errors.ts";
import type { FromProxy, ToProxy } from "../../config/proxy-feed.ts";
import type { Log } from "./log.ts";

const LONGEST_LINE = 16 * 1024 * 1024;

interface FeedDeps {
  readonly socketPath: string;
  readonly hello: () => FromProxy;
  /** Handles one message; `reply` goes to its sender: false when that is gone. */
  readonly receive: (message: ToProxy, reply: (message: FromProxy) => boolean) => void;
  readonly log: Log;
}

interface TableFeed {
  start(): Promise<void>;
  /** To everybody connected. */
  tell(message: FromProxy): void;
  stop(): void;
}

export function createTableFeed(deps: FeedDeps): TableFeed {
  const peers = new Set<Socket>();
  const server = createServer((socket) => {
    peers.add(socket);
    socket.on("close", () => peers.delete(socket));
    socket.on("error", () => socket.destroy());
    send(socket, deps.hello());
    readLines(socket, (line) => {
      let message: ToProxy;
      try {
        message = JSON.parse(line) as ToProxy;
        deps.receive(message, (answer) => send(socket, answer));
      } catch (error) {
        deps.log.warn({ error: String(error) }, "a message of the feed was not understood");
        socket.destroy();
      }
    });
  });

  return {
    start: () =>
      new Promise((resolve, reject) => {
        removeStale(deps.socketPath);
        server.once("error", (cause) =>
          reject(new OwlError("proxy.feedFailed", `The proxy cannot listen on ${deps.socketPath}.`, { cause })),
        );
        server.listen(deps.socketPath, () => {
          chmodSync(deps.socketPath, 0o600);
          resolve();
        });
      }),
    tell(message) {
      for (const peer of peers) send(peer, message);
    },
    stop() {
      server.close();
      for (const peer of peers) peer.end();
    },
  };
}

/** Calls `take` for each line of the socket; a line over 16 MiB ends the connection. */
export function readLines(socket: Socket, take: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    rest += chunk;
    let from = 0;
    for (let end = rest.indexOf("\n", from); end >= 0; end = rest.indexOf("\n", from)) {
      const line = rest.slice(from, end);
      from = end + 1;
      if (line !== "") take(line);
    }
    rest = rest.slice(from);
    if (rest.length > LONGEST_LINE) socket.destroy();
  });
}

function send(socket: Socket, message: FromProxy): boolean {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
  return socket.writable;
}

/** A socket file left by a killed process would refuse the new one; anything that is not a socket stays. */
function removeStale(path: string): void {
  try {
    if (lstatSync(path).isSocket()) unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
