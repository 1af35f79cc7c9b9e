// A restart with long work in every worker: with turns that cannot be handed over (grace scaled down to 12 s) about one
// grace in all, told before; with turns of many steps and a short `finish` seconds, and all of them answered.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../../config/system-time.ts";
import { type Caller, listOf, textOf } from "../../chaos/caller.ts";
import { startBundled, until, untilSteady } from "../bundled.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";

const ROUNDS = scaled(3, 1);
const GRACE_S = 12;
const TURNS = 12;
const STEPS = 6;
const STEP_S = scaled(10, 3);

async function askIn(caller: Caller, text: string): Promise<string> {
  const conversation = textOf((await caller.once("POST", "/api/conversations", { body: {} })).body, "id");
  const posted = await caller.once("POST", `/api/conversations/${conversation}/turns`, { body: { text } });
  return textOf(posted.body, "turnId");
}

/** `finish: 10s` under turns of a minute: handed over at a step's border, none cut. */
async function handedOver(log: (line: string) => void): Promise<Row> {
  const bundled = await startBundled("stop: {grace: 60s}\nturn: {finish: 10s, wrapUp: 5s, claim: 300s}\n");
  const { product, caller } = bundled;
  try {
    const steps = Array.from({ length: STEPS }, (_, n) => `SELECT ${n} AS n FROM pg_sleep(${STEP_S})`).join(" | ");
    const turns = await Promise.all(Array.from({ length: TURNS }, (_, n) => askIn(caller, `${n} steps: ${steps}`)));
    const finished = async (id: string) =>
      listOf((await caller.once("GET", `/api/turns/${id}/steps`)).body, "steps").some(
        (one) => one.state === "finished",
      );
    await until(async () => (await Promise.all(turns.map(finished))).every(Boolean), 120_000, 200);
    log("every turn is in its second step: restart");
    const from = performance.now();
    await product.ctl("restart", "--all", "--json");
    const seconds = (performance.now() - from) / 1_000;
    const states: string[] = [];
    for (const id of turns) {
      let state = "";
      await until(
        async () => {
          state = textOf((await caller.once("GET", `/api/turns/${id}`)).body, "state");
          return state !== "running" && state !== "queued";
        },
        240_000,
        500,
      );
      states.push(state);
    }
    const answered = states.filter((state) => state === "answered").length;
    return {
      work: `restart with finish: 10s under ${TURNS} turns of ${(STEPS * STEP_S).toString()} s, in steps of ${STEP_S} s`,
      goal: "under 30 s, all answered",
      measured: `${seconds.toFixed(1)} s, ${answered} of ${TURNS} answered`,
      met: seconds < 30 && answered === TURNS,
    };
  } finally {
    await bundled.stop();
  }
}

export const longRestartBench: Bench = {
  name: "long-restart",
  async run(log) {
    const bundled = await startBundled("stop: {grace: 12s}\nturn: {finish: 8s, wrapUp: 3s, claim: 60s}\n");
    const { product, caller } = bundled;
    try {
      const seconds: number[] = [];
      let shown = "";
      let ended = 0;
      for (let n = 0; n < ROUNDS; n++) {
        log(`round ${n + 1}`);
        await untilSteady(product);
        const turns = await Promise.all(
          Array.from({ length: 12 }, () => askIn(caller, `say 600 words every 100 ms ${randomUUID()}`)),
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
      return [...rows, await handedOver(log)];
    } finally {
      await bundled.stop();
    }
  },
};
