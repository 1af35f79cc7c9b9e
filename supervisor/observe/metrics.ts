// Prometheus text, gathered at each scrape; prom-client writes it and adds what owld itself uses.
// It is loaded by the first scrape: an owld nobody scrapes does without its memory.
// Invariant: a scrape never fails because one source does: what cannot be told is left out.

import type { Registry } from "prom-client";
import type { OwlEvent, Status } from "../../config/control-api.ts";
import type { ProxyCounters } from "../../config/proxy-feed.ts";
import type { WorkFigures } from "../ports.ts";
import type { RolloutTotals } from "../rollouts/totals.ts";
import { type Metric, metricSamples } from "./samples.ts";

interface MetricsParts {
  readonly status: () => Promise<Status>;
  readonly rollouts: () => RolloutTotals;
  readonly proxy: () => ProxyCounters;
  readonly work: () => Promise<WorkFigures | null>;
}

interface Metrics {
  /** Counts every event of a feed until it ends. */
  count(events: AsyncIterable<Pick<OwlEvent, "type" | "service">>): Promise<void>;
  text(): Promise<string>;
}

export function createMetrics(parts: MetricsParts): Metrics {
  let prom: Promise<{ readonly fresh: () => Registry; readonly own: Registry }> | null = null;
  const load = async () => {
    const { collectDefaultMetrics, Registry } = await import("prom-client");
    const own = new Registry();
    collectDefaultMetrics({ register: own });
    return { fresh: () => new Registry(), own };
  };
  const events = new Map<string, { type: string; service: string; count: number }>();
  return {
    async count(feed) {
      for await (const { type, service } of feed) {
        const key = `${type} ${service ?? ""}`;
        const known = events.get(key) ?? { type, service: service ?? "", count: 0 };
        known.count++;
        events.set(key, known);
      }
    },
    async text() {
      const [status, work] = await Promise.all([parts.status(), parts.work().catch(() => null)]);
      const facts = { status, rollouts: parts.rollouts(), work, proxy: parts.proxy(), events: [...events.values()] };
      prom ??= load();
      const { fresh, own } = await prom;
      const register = fresh();
      for (const metric of metricSamples(facts)) register.registerMetric(asPromMetric(metric));
      return `${await register.metrics()}\n${await own.metrics()}`;
    },
  };
}

type PromMetric = Parameters<Registry["registerMetric"]>[0];

/** prom-client's metrics hold state of their own; ours are read elsewhere, so only its writer's side is given. */
function asPromMetric({ name, help, type, values }: Metric): PromMetric {
  const read = {
    name,
    help,
    type,
    aggregator: "sum",
    values: values.map(({ labels, value, suffix }) => ({ labels, value, metricName: `${name}${suffix ?? ""}` })),
  };
  return { name, get: async () => read } as unknown as PromMetric;
}
