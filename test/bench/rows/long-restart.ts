// A restart with long work in every worker, budgets scaled down (grace 12 s): about one grace in all, told before.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../../chaos/caller.ts";
import { startBundled, untilSteady } from "../bundled.ts";
import { type Bench, type Row, summaryOf } from "../figures.ts";

const ROUNDS = 3;
const GRACE_S = 12;

export const longRestartBench: Bench = {
  name: "long-restart",
  async run(log) {
    const bundled = await startBundled("stop: {grace: 12s}\nturn: {finish: 8s, wrapUp: 3s, claim: 60s}\n");
    const { product, caller } = bundled;
    const ask = async (text: string) => {
      const conversation = textOf((await caller.once("POST", "/api/conversations", { body: {} })).body, "id");
      const posted = await caller.once("POST", `/api/conversations/${conversation}/turns`, { body: { text } });
      return textOf(posted.body, "turnId");
    };
    try {
      const seconds: number[] = [];
      let shown = "";
      let ended = 0;
      for (let n = 0; n < ROUNDS; n++) {
        log(`round ${n + 1}`);
        await untilSteady(product);
        const turns = await Promise.all(
          Array.from({ length: 12 }, () => ask(`say 600 words every 100 ms ${randomUUID()}`)),
        );
        await systemClock.sleep(1_000);
        const plan = JSON.parse((await product.ctl("restart", "--all", "--plan", "--json")).stdout) as {
          expectedMs: number;
          worstMs: number;
        };
        shown = `shown before: expected ${(plan.expectedMs / 1_000).toFixed(0)} s, worst ${(plan.worstMs / 1_000).toFixed(0)} s`;
        const from = performance.now();
        await product.ctl("restart", "--all", "--json");
        seconds.push((performance.now() - from) / 1_000);
        for (const id of turns) {
          const turn = await caller.once("GET", `/api/turns/${id}`);
          if (textOf(turn.body, "state") === "failed" && textOf(turn.body, "message") !== "") ended += 1;
        }
      }
      const summary = summaryOf(seconds);
      const rows: Row[] = [
        {
          work: "restart with long work in every worker (grace scaled to 12 s)",
          goal: "about one grace per service at most, shown before",
          measured: `p50 ${summary.p50.toFixed(1)} s; ${shown}; ${ended} of ${ROUNDS * 12} turns ended with their message`,
          met: summary.p50 <= 2 * GRACE_S && ended === ROUNDS * 12,
          unit: "s",
          summary,
        },
      ];
      return rows;
    } finally {
      await bundled.stop();
    }
  },
};
