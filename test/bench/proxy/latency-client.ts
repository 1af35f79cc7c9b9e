// `node latency-client.ts PORT PER_SECOND SECONDS`: keep-alive GETs at a steady rate; prints percentiles as JSON.

import { connect, type Socket } from "node:net";
import { systemClock } from "../../../config/system-time.ts";

const CONNECTIONS = 32;
const [port = 0, perS = 2_000, seconds = 3] = process.argv.slice(2).map(Number);
const REQUEST = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
const WARM_UP = perS / 2;

const took: number[] = [];
let failed = 0;
let answered = 0;
const free: Client[] = [];

interface Client {
  readonly socket: Socket;
  sentAt: number;
  missing: number;
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const client: Client = { socket, sentAt: 0, missing: 0 };
    socket.once("connect", () => {
      free.push(client);
      resolve();
    });
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      // The upstream's answer ends in 200 times the same letter.
      if (client.missing === 0) {
        const head = chunk.indexOf("\r\n\r\n");
        if (!chunk.toString("latin1", 0, 12).endsWith(" 200") || head < 0) failed++;
        client.missing = 200 + head + 4;
      }
      client.missing -= chunk.length;
      if (client.missing > 0) return;
      client.missing = 0;
      answered++;
      if (answered > WARM_UP) took.push(performance.now() - client.sentAt);
      free.push(client);
    });
  });
}

await Promise.all(Array.from({ length: CONNECTIONS }, open));
const from = performance.now();
const wanted = perS * seconds + WARM_UP;
for (let sent = 0; sent < wanted; ) {
  await systemClock.sleep(1);
  const due = Math.min(wanted, Math.floor(((performance.now() - from) / 1_000) * perS));
  for (; sent < due; sent++) {
    // First in, first out: every connection is used. None free: the rate was not held.
    const client = free.shift();
    if (client === undefined) {
      failed++;
      continue;
    }
    client.sentAt = performance.now();
    client.socket.write(REQUEST);
  }
}
for (let tries = 0; free.length < CONNECTIONS && tries < 2_000; tries++) await systemClock.sleep(1);
failed += CONNECTIONS - free.length;
const sorted = took.toSorted((a, b) => a - b);
const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
process.stdout.write(JSON.stringify({ n: took.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), failed }));
process.exit(0);
