// 24 hours of traffic in small: what a proxy process keeps after 1,000,000 requests of every kind, aborted ones too, is
// what it kept after the first tenth. The heap is looked at after a forced collection.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { openFeed, PROXY_COMMAND, proxySettings, tableOf } from "../../support/proxy/process.ts";
import { type Bench, type Row, scaled } from "../figures.ts";

const REQUESTS = scaled(1_000_000, 50_000);
const PARTS = 10;
/** More than this for each request from the first tenth to the end is a leak: the least object takes 16 bytes. */
const MOST_BYTES = 4;
const file = (name: string) => new URL(name, import.meta.url).pathname;

interface Memory {
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly rss: number;
  readonly handles: number;
}

export const leakBench: Bench = {
  name: "leak",
  async run(log) {
    return [await watchHeap(REQUESTS, log)];
  },
};

async function watchHeap(requests: number, log: (line: string) => void): Promise<Row> {
  const dir = mkdtempSync(join(tmpdir(), "owl-leak-"));
  const settings = proxySettings("proxy-1", dir);
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[], options: Parameters<typeof fork>[2] = {}) => {
    const child = fork(program, args, { ...options, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    children.push(child);
    return child;
  };
  try {
    start(file("../proxy/upstream.ts"), [join(dir, "up.sock")]);
    const proxy = start(PROXY_COMMAND[1], [], {
      execArgv: ["--expose-gc", "--import", file("../proxy/heap-probe.ts")],
      env: { ...process.env, OWL_PROXY_SETTINGS: JSON.stringify(settings) },
    });
    const feed = await openFeed(settings);
    feed.send({ type: "table", table: tableOf(1, dir, ["up"]) });
    await feed.next("ack");
    const load = start(file("../proxy/mixed-load.ts"), [String(feed.port)]);
    const tell = async <T>(child: ChildProcess, message: number): Promise<T> => {
      child.send(message);
      return (await once(child, "message"))[0] as T;
    };
    const seen: Memory[] = [];
    let failed = 0;
    for (let part = 0; part < PARTS; part++) {
      failed += (await tell<{ failed: number }>(load, requests / PARTS)).failed;
      // Idle upstream connections are kept for 4 s: they are no leak.
      await systemClock.sleep(6_000);
      const memory = await tell<Memory>(proxy, 0);
      seen.push(memory);
      log(`${((part + 1) * requests) / PARTS} requests, ${failed} failed, ${JSON.stringify(memory)}`);
    }
    feed.send({ type: "counters" });
    const { counters } = await feed.next("counters");
    const open = readdirSync(`/proc/${proxy.pid}/fd`).length;
    feed.close();
    const [first, last] = [seen[0], seen.at(-1)];
    if (first === undefined || last === undefined) throw new Error("nothing was measured");
    const held = ({ heapUsed, external }: Memory) => heapUsed + external;
    const growth = held(last) - held(first);
    const each = growth / (requests - requests / PARTS);
    const kib = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
    return {
      work: `heap of a proxy process over ${requests} requests (GET, POST, chunked, 1 MiB, 4 % aborted)`,
      goal: "does not grow",
      measured:
        `${kib(first.heapUsed)} after a tenth, ${kib(last.heapUsed)} at the end (outside the heap ${kib(first.external)}, ${kib(last.external)}; ` +
        `resident ${kib(first.rss)}, ${kib(last.rss)}): ${each.toFixed(2)} bytes a request`,
      met: each < MOST_BYTES && failed === 0 && counters.connections === 0 && counters.inFlight === 0,
      note: `${failed} failed; left at the end: ${counters.connections} connections, ${counters.inFlight} in flight, ${open} descriptors`,
    };
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  }
}
