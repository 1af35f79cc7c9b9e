// A loopback port that stays free while what listens on it is down for a moment. Below those the kernel gives to
// outgoing connections (from 32768 on): a port of its choice may be somebody's by the time it is listened on again.

import { createServer } from "node:net";

const FIRST = 20_000;
const COUNT = 12_000;
/** Test files run side by side, each in a process of its own: each begins elsewhere. */
let next = (process.pid * 97) % COUNT;

/** A port of 127.0.0.1 nobody listens on, another one at each call. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
