// 100,000 requests over 20 restarts, half of them POST, with event streams and WebSockets beside them: nothing may fail,
// no POST be executed twice or lost. Every fifth time the proxy itself is replaced too.

import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { createProduct } from "../../chaos/product.ts";
import { auditPosts, startRolloverLoad } from "../../support/rollovers/load.ts";
import { untilSteady } from "../bundled.ts";
import { type Bench, type Row, scaled } from "../figures.ts";

const REQUESTS = scaled(100_000, 5_000);
const RESTARTS = scaled(20, 5);
const PROXY_EVERY = 5;
const PROGRAM = new URL("../../support/programs/rollover-web.ts", import.meta.url).pathname;

export const rolloversBench: Bench = {
  name: "rollovers",
  async run(log) {
    return [await rollOver(log)];
  },
};

async function rollOver(log: (line: string) => void): Promise<Row> {
  const product = await createProduct({ yaml: () => "" });
  const counts = join(product.home, "counts");
  mkdirSync(counts);
  const yaml = (proxies: number) => `proxy: {listen: "127.0.0.1:${product.port}", queueTimeout: ${5 + proxies}s}
stop: {grace: 30s}
turn: {finish: 10s, wrapUp: 5s}
services:
  web: {command: ["${process.execPath}", "${PROGRAM}"], replicas: 2, routes: [{path: "/"}], health: {http: /readyz}, env: {COUNT_DIR: "${counts}"}}
`;
  const write = (proxies: number) => writeFile(join(product.home, "owl.yaml"), yaml(proxies));
  await write(0);
  try {
    product.start();
    await untilSteady(product);
    const from = performance.now();
    const load = startRolloverLoad({ port: product.port, clients: 16, streams: 20, sockets: 10 });
    const troubles: string[] = [];
    const ctl = async (...args: readonly string[]) => {
      const { code, stderr } = await product.ctl(...args);
      if (code !== 0) troubles.push(`owlctl ${args.join(" ")}: exit code ${code}, ${stderr.trim().slice(0, 300)}`);
    };
    let restarts = 0;
    let proxies = 0;
    while (restarts < RESTARTS) {
      await ctl("restart");
      restarts++;
      if (restarts % PROXY_EVERY === 0) {
        proxies++;
        await write(proxies);
        await ctl("reload");
      }
      // Restarts are spread over the whole of the requests.
      while (load.requests() < (REQUESTS * restarts) / RESTARTS) await systemClock.sleep(50);
      log(`${restarts} restarts, ${load.requests()} requests, ${load.failures().length} failures`);
    }
    const figures = await load.stop();
    const seconds = (performance.now() - from) / 1_000;
    const { executed, twice, lost } = auditPosts(counts, figures.posted);
    const failures = [...troubles, ...figures.failures];
    for (const failure of failures.slice(0, 20)) log(failure);
    const requests = figures.gets + figures.posts;
    const wrong = failures.length + twice.length + lost.length;
    return {
      work: `${requests} requests over ${restarts} restarts and ${proxies} replacements of the proxy`,
      goal: "0 failures, each POST executed once",
      measured:
        `${failures.length} failures; ${figures.posts} POSTs: ${executed} executed, ${twice.length} twice, ${lost.length} lost; ` +
        `${figures.events} events of 20 streams that moved ${figures.streamsMoved} times without a gap; ` +
        `${figures.messages} messages of 10 WebSockets that were moved ${figures.socketsMoved} times`,
      met: wrong === 0 && executed === figures.posts,
      note: `in ${seconds.toFixed(0)} s`,
    };
  } finally {
    await product.stop(false);
  }
}
