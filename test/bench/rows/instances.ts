// 200 instances of a trivial service, for real: how long status takes, what the supervisor costs when nothing happens.

import { systemClock } from "../../../config/system-time.ts";
import { processesOf } from "../../chaos/processes.ts";
import { createProduct } from "../../chaos/product.ts";
import { untilSteady } from "../bundled.ts";
import { type Bench, cpuMs, residentMiB, scaled, summaryOf } from "../figures.ts";

const INSTANCES = scaled(200, 20);
const IDLE_MS = scaled(30_000, 5_000);

export const instancesBench: Bench = {
  name: "instances",
  async run(log) {
    const product = await createProduct({
      yaml: () => `stop: {grace: 5s}
services:
  sleeper: {command: [sleep, infinity], listen: none, health: {uptime: 500ms}, replicas: ${INSTANCES}}
`,
    });
    try {
      const from = performance.now();
      product.start();
      await untilSteady(product);
      const startS = (performance.now() - from) / 1_000;
      log(`${INSTANCES} instances after ${startS.toFixed(1)} s`);
      await systemClock.sleep(10_000);
      const pid = processesOf(product.home).find((one) => one.kind === "supervisor")?.pid ?? 0;
      const before = cpuMs(pid);
      await systemClock.sleep(IDLE_MS);
      const share = ((cpuMs(pid) - before) / IDLE_MS) * 100;
      const ms: number[] = [];
      for (let n = 0; n < 100; n++) {
        const began = performance.now();
        if ((await product.status(30_000)) === null) throw new Error("no status");
        ms.push(performance.now() - began);
      }
      const summary = summaryOf(ms);
      return [
        {
          work: `${INSTANCES} instances: status over the control socket`,
          goal: "<= 50 ms",
          measured: `p50 ${summary.p50.toFixed(1)} ms, p99 ${summary.p99.toFixed(1)} ms`,
          met: summary.p99 <= 50,
          unit: "ms",
          summary,
        },
        {
          work: `${INSTANCES} instances idle: CPU of the supervisor`,
          goal: "< 5 % of a core",
          measured: `${share.toFixed(1)} %, ${residentMiB(pid).toFixed(0)} MiB`,
          met: share < 5,
          note: `over ${IDLE_MS / 1_000} s; all steady ${startS.toFixed(1)} s after npm start`,
        },
      ];
    } finally {
      await product.stop(false);
    }
  },
};
