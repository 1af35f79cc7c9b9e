// Cancels what a connection's backend runs, by the protocol's own request: it needs no right and no place in the pool.

import { connect, type Socket } from "node:net";
import type pg from "pg";

const CANCEL_CODE = 80_877_102;

/** Resolves when the server has taken the request (it answers by closing); rejects when it cannot be reached. */
export function cancelRequest(client: pg.Client): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_CODE, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  return new Promise((resolve, reject) => {
    const socket: Socket = client.host.startsWith("/")
      ? connect(`${client.host}/.s.PGSQL.${client.port}`)
      : connect(client.port, client.host);
    socket.once("connect", () => socket.end(message));
    socket.once("error", reject);
    socket.once("close", () => resolve());
    socket.resume();
  });
}
