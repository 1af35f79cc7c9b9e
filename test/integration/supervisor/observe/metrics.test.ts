// The Prometheus text as it leaves owld, and its optional port.

import { afterEach, expect, test } from "vitest";
import { NO_COUNTERS } from "../../../../supervisor/core/proxy-sums.ts";
import { createMetricsListener } from "../../../../supervisor/observe/listener.ts";
import { createMetrics } from "../../../../supervisor/observe/metrics.ts";
import { NO_ROLLOUTS } from "../../../../supervisor/rollouts/totals.ts";
import { STATUS } from "../../../support/control.ts";
import { steadyPort } from "../../../support/steady-port.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function setup() {
  return createMetrics({
    status: async () => STATUS,
    rollouts: () => NO_ROLLOUTS,
    proxy: () => ({ ...NO_COUNTERS, requests: 10, refused: { 'bad "request"': 1 } }),
    work: () => Promise.reject(new Error("no database")),
  });
}

test("every line is Prometheus text, with help and type before each name, a failing source left out", async () => {
  const metrics = setup();
  const feed = (async function* () {
    yield { type: "instance.crashed", service: "web" };
    yield { type: "instance.crashed", service: "web" };
  })();
  await metrics.count(feed);
  const text = await metrics.text();
  for (const line of text.split("\n")) {
    expect(line).toMatch(
      /^$|^# (HELP|TYPE) \w+ .+|^\w+(\{(\w+="([^"\\]|\\.)*",?)+\})? -?[\d.e+-]+( \d+)?$|^\w+.* \+?(NaN|Nan|Inf)$/,
    );
  }
  expect(text).toContain('owl_instances{service="web",state="ready"} 1');
  expect(text).toContain("# TYPE owl_proxy_requests_total counter\nowl_proxy_requests_total 10");
  expect(text).toContain('owl_proxy_refused_total{reason="bad \\"request\\""} 1');
  expect(text).toContain('owl_worker_heartbeat_age_seconds{worker="worker-2",state="active"} 1.2');
  expect(text).toContain('owl_events_total{type="instance.crashed",service="web"} 2');
  expect(text).toContain("process_resident_memory_bytes");
  expect(text).not.toContain("owl_queue_depth");
});

test("the loopback port serves /metrics and nothing else", async () => {
  const port = await steadyPort();
  const listener = createMetricsListener({ host: "127.0.0.1", port }, setup().text, () => undefined);
  await listener.start();
  cleanups.push(() => listener.stop());
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("owl_info");
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  const second = createMetricsListener({ host: "127.0.0.1", port }, setup().text, () => undefined);
  await expect(second.start()).rejects.toMatchObject({
    code: "listen.taken",
    next: expect.stringContaining("proxy.metrics"),
  });
});
