// 10,000 idle event streams through one proxy process: held, all of them hear what is sent, all survive a rollout.

import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { systemClock } from "../../../config/system-time.ts";
import { connectionCap, descriptorLimit } from "../../../supervisor/proxy/core/connection-cap.ts";
import { processesOf } from "../../chaos/processes.ts";
import { createProduct } from "../../chaos/product.ts";
import { until, untilSteady } from "../bundled.ts";
import { type Bench, residentMiB, scaled } from "../figures.ts";

const WANTED = scaled(10_000, 1_000);
const PROGRAM = new URL("../programs/stream-service.ts", import.meta.url).pathname;

export const streamsBench: Bench = {
  name: "streams",
  async run(log) {
    const product = await createProduct({
      yaml: () => `stop: {grace: 60s}
services:
  web: {command: ["${process.execPath}", "${PROGRAM}"], replicas: 2, routes: [{path: "/"}], health: {http: /readyz}, stop: {after: routed-out}}
`,
    });
    const streams: Stream[] = [];
    // Two descriptors a stream: a machine whose limit is lower shows as many as the proxy accepts.
    const openFiles = descriptorLimit(readFileSync("/proc/self/limits", "utf8"));
    const count = connectionCap(WANTED, openFiles);
    const why = count === WANTED ? "" : `${count} of ${WANTED}: the limit of open files here is ${openFiles}`;
    const silent = () => {
      const deaf = streams.filter((one) => one.heard() === 0);
      const told = deaf.map((one) => one.lastStatus() ?? "nothing");
      return `${deaf.length} of ${count} heard nothing; their last answers: ${[...new Set(told)].join(", ")}`;
    };
    try {
      product.start();
      await untilSteady(product);
      const proxy = processesOf(product.home).find((one) => one.kind === "proxy")?.pid ?? 0;
      const before = residentMiB(proxy);
      log(`opening ${count} streams`);
      for (let n = 0; n < count; n++) {
        streams.push(createStream(product.port));
        if (n % 100 === 99) await systemClock.sleep(20);
      }
      await until(() => streams.every((one) => one.heard() > 0), 60_000, 100).catch((error: Error) => {
        throw new Error(`${error.message}: ${silent()}`);
      });
      await systemClock.sleep(2_000);
      const perStream = ((residentMiB(proxy) - before) * 1024) / count;
      const hearing = async () => {
        const marks = streams.map((one) => one.heard());
        const from = performance.now();
        await until(() => streams.every((one, n) => one.heard() > (marks[n] ?? 0)), 60_000, 20);
        return performance.now() - from;
      };
      log("waiting for every one to hear a tick");
      await hearing();
      log("restart");
      const from = performance.now();
      const { code } = await product.ctl("restart", "--json");
      const seconds = (performance.now() - from) / 1_000;
      await hearing();
      const back = streams.filter((one) => one.alive()).length;
      const moved = streams.reduce((sum, one) => sum + one.reconnects(), 0);
      return [
        {
          work: `${count} idle event streams through one proxy process`,
          goal: "held, all receive, all survive a rollout",
          measured: `${back} alive and hearing after a restart of ${seconds.toFixed(1)} s (exit code ${code}), ${moved} reconnects`,
          met: count < WANTED ? null : back === count && code === 0,
          note: why,
        },
        {
          work: "proxy memory for each idle stream",
          goal: "<= 15 KiB (then 8)",
          measured: `${perStream.toFixed(1)} KiB`,
          met: perStream <= 15,
          note: "growth of resident memory / streams, both connections",
        },
      ];
    } finally {
      for (const one of streams) one.close();
      await product.stop(false);
    }
  },
};

interface Stream {
  /** Status line of the last answer. */
  lastStatus(): string | null;
  heard(): number;
  alive(): boolean;
  reconnects(): number;
  close(): void;
}

/** An EventSource in a few lines: comes back a moment after it was ended. */
function createStream(port: number): Stream {
  let heard = 0;
  let reconnects = -1;
  let closed = false;
  let socket: Socket | null = null;
  let status: string | null = null;
  const open = () => {
    if (closed) return;
    reconnects += 1;
    const mine = connect(port, "127.0.0.1");
    socket = mine;
    mine.on("error", () => mine.destroy());
    let isNew = true;
    mine.on("data", (chunk) => {
      if (isNew) status = chunk.toString("latin1", 0, Math.max(0, chunk.indexOf("\r\n")));
      isNew = false;
      if (chunk.includes("data: ")) heard += 1;
      // A chunked body's last chunk: the server ended this stream.
      if (chunk.includes("0\r\n\r\n")) mine.destroy();
    });
    mine.on("close", () => {
      if (socket === mine) socket = null;
      systemClock.after(500, open, { unref: true });
    });
    mine.write("GET /events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n");
  };
  open();
  return {
    heard: () => heard,
    lastStatus: () => status,
    alive: () => socket !== null && !socket.destroyed,
    reconnects: () => reconnects,
    close() {
      closed = true;
      socket?.destroy();
    },
  };
}
