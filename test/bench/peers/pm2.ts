// Replacing two instances of one small service under load: `owlctl restart`, `pm2 reload` (cluster), `pm2 restart`.

import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../../config/system-time.ts";
import { freeLoopbackPort } from "../../chaos/outside/listen-on-loopback.ts";
import { createProduct } from "../../chaos/product.ts";
import { untilSteady } from "../bundled.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";
import { type LoadFigures, startSteadyLoad } from "../steady-load.ts";
import { installPeers, notInstalled } from "./install.ts";

const run = promisify(execFile);
const PROGRAM = new URL("../programs/web-service.ts", import.meta.url).pathname;
const ROUNDS = scaled(5, 1);

interface Way {
  readonly name: string;
  readonly port: number;
  replace(): Promise<void>;
}

export const pm2Bench: Bench = {
  name: "pm2",
  async run(log) {
    const peers = await installPeers(["pm2@6"], log);
    const home = await mkdtemp(join(tmpdir(), "owl-pm2-"));
    const product = await createProduct({
      yaml: () => `stop: {grace: 10s}
services:
  web: {command: ["${process.execPath}", "${PROGRAM}"], replicas: 2, routes: [{path: "/"}], health: {http: /readyz}}
`,
    });
    const ways: Way[] = [
      {
        name: "owlctl restart",
        port: product.port,
        replace: async () => void (await product.ctl("restart", "--all", "--json")),
      },
    ];
    let pm2: ((...args: string[]) => Promise<unknown>) | null = null;
    try {
      product.start();
      await untilSteady(product);
      if (peers !== null) {
        const port = await freeLoopbackPort();
        const env = { ...process.env, PM2_HOME: home, PORT: String(port) };
        const program = join(peers.dir, "node_modules/pm2/bin/pm2");
        pm2 = (...args) => run(process.execPath, [program, ...args], { env, cwd: home });
        // It takes .ts for another runtime's; the program is plain JavaScript.
        const copy = join(home, "web-service.mjs");
        await copyFile(PROGRAM, copy);
        await pm2("start", copy, "-i", "2", "--name", "web", "--wait-ready");
        const call = pm2;
        ways.push({ name: "pm2 reload", port, replace: async () => void (await call("reload", "web")) });
        ways.push({ name: "pm2 restart", port, replace: async () => void (await call("restart", "web")) });
      }
      const seconds = new Map<string, number[]>();
      const loads = new Map<string, LoadFigures[]>();
      for (let round = 0; round < ROUNDS; round++) {
        for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
          log(`round ${round + 1}: ${way.name}`);
          const load = startSteadyLoad(way.port, { path: "/", post: "/", clients: 16, pauseMs: 10 });
          await systemClock.sleep(500);
          const from = performance.now();
          await way.replace();
          seconds.set(way.name, [...(seconds.get(way.name) ?? []), (performance.now() - from) / 1_000]);
          await systemClock.sleep(500);
          loads.set(way.name, [...(loads.get(way.name) ?? []), await load.stop()]);
        }
      }
      const left = peers === null ? [notInstalled("two instances of a small service replaced under load: pm2")] : [];
      const rows = ways.map(({ name }): Row => {
        const all = loads.get(name) ?? [];
        const sent = all.reduce((sum, one) => sum + one.sent, 0);
        const failed = all.reduce((sum, one) => sum + one.failed, 0);
        const longest = Math.max(...all.map((one) => summaryOf(one.ms).max));
        return {
          work: `two instances of a small service replaced under load: ${name}`,
          goal: name === "owlctl restart" ? "0 failed requests" : "-",
          measured: `${failed} of ${sent} requests failed, the slowest took ${longest.toFixed(0)} ms`,
          met: name === "owlctl restart" ? failed === 0 : null,
          unit: "s",
          summary: summaryOf(seconds.get(name) ?? []),
        };
      });
      return [...rows, ...left];
    } finally {
      if (pm2 !== null) await pm2("kill").catch(() => undefined);
      await rm(home, { recursive: true, force: true });
      await peers?.remove();
      await product.stop(false);
    }
  },
};
