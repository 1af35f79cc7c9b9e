// Enqueue to handler running: pg-boss as Owl uses it (NOTIFY, claim in one transaction) beside graphile-worker, on one
// PostgreSQL, one job at a time, in turning order.

import { randomUUID } from "node:crypto";
import { textOf } from "../../chaos/caller.ts";
import { startModelEndpoint } from "../../chaos/outside/model-endpoint.ts";
import { startServices } from "../../support/services.ts";
import { until } from "../bundled.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";
import { installPeers, notInstalled } from "./install.ts";

const ROUNDS = scaled(5, 1);
const PER_ROUND = 60;

interface Graphile {
  readonly Logger: new (scope: () => () => void) => object;
  run(options: object): Promise<{ addJob(name: string, payload: object): Promise<unknown>; stop(): Promise<void> }>;
}

export const graphileBench: Bench = {
  name: "graphile-worker",
  async run(log) {
    const peers = await installPeers(["graphile-worker@0.16"], log);
    if (peers === null) return [notInstalled("enqueue to handler running: graphile-worker")];
    const model = await startModelEndpoint();
    const services = await startServices({ model: { baseUrl: model.baseUrl, apiKey: "x", name: "stub" } });
    try {
      const started = new Map<string, number>();
      const { run, Logger } = peers.load("graphile-worker") as Graphile;
      const runner = await run({
        connectionString: services.url,
        concurrency: 8,
        noHandleSignals: true,
        logger: new Logger(() => () => undefined),
        pollInterval: 2_000,
        taskList: {
          note: async (payload: unknown) => void started.set((payload as { id: string }).id, performance.now()),
        },
      });
      const web = await services.web();
      await services.worker();
      await web.client.signIn();
      const graphile: number[] = [];
      const owl: number[] = [];
      const one = {
        async graphile() {
          const id = randomUUID();
          const from = performance.now();
          await runner.addJob("note", { id });
          await until(() => started.has(id), 10_000, 1);
          graphile.push((started.get(id) ?? 0) - from);
        },
        async owl() {
          const made = await web.client.call("POST", "/api/conversations", {});
          const text = `hello ${randomUUID()}`;
          const from = performance.timeOrigin + performance.now();
          await web.client.call(
            "POST",
            `/api/conversations/${textOf(made.body as Record<string, unknown>, "id")}/turns`,
            { text },
          );
          await until(() => model.seen.has(text), 10_000, 1);
          owl.push(Math.max(0, (model.seen.get(text)?.firstAt[0] ?? 0) - from));
        },
      };
      for (let round = 0; round < ROUNDS; round++)
        for (const who of round % 2 === 0 ? (["graphile", "owl"] as const) : (["owl", "graphile"] as const))
          for (let n = 0; n < PER_ROUND; n++) await one[who]();
      await runner.stop();
      const rows: Row[] = [
        {
          work: "enqueue to handler running: graphile-worker 0.16 (addJob alone)",
          goal: "-",
          measured: "a peer",
          met: null,
          unit: "ms",
          summary: summaryOf(graphile),
        },
        {
          work: "the same for Owl: HTTP POST to the handler's own model request",
          goal: "p50 <= 8 ms, p99 <= 30 ms",
          measured: `${(summaryOf(owl).p50 / summaryOf(graphile).p50).toFixed(1)}x graphile-worker at the median`,
          met: summaryOf(owl).p50 <= 8 && summaryOf(owl).p99 <= 30,
          unit: "ms",
          summary: summaryOf(owl),
          note: "more than the peer does: HTTP, session, conversation, history, and the model's HTTP request; both on a PostgreSQL that does not wait for the disk",
        },
      ];
      return rows;
    } finally {
      await services.stop();
      await model.stop();
      await peers.remove();
    }
  },
};
