// The alert rules as Prometheus reads them, and the text of /metrics as it checks it.

import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { NO_COUNTERS } from "../../supervisor/core/proxy-sums.ts";
import { createMetrics } from "../../supervisor/observe/metrics.ts";
import { NO_ROLLOUTS } from "../../supervisor/rollouts/totals.ts";
import { STATUS } from "../support/control.ts";

const cwd = fileURLToPath(new URL("../../supervisor/observe/prometheus", import.meta.url));

test("promtool takes the alert rules, and they fire when they should", async () => {
  const { stdout } = await execa("promtool", ["check", "rules", "alerts.yaml"], { cwd });
  expect(stdout).toContain("SUCCESS");
  const tried = await execa("promtool", ["test", "rules", "alerts.test.yaml"], { cwd, all: true });
  expect(tried.all).toContain("SUCCESS");
});

test("promtool finds no fault in owld's own metrics", async () => {
  const metrics = createMetrics({
    status: async () => STATUS,
    rollouts: () => NO_ROLLOUTS,
    proxy: () => NO_COUNTERS,
    work: async () => null,
  });
  const { stdout, stderr } = await execa("promtool", ["check", "metrics"], {
    input: await metrics.text(),
    reject: false,
  });
  expect(`${stdout}\n${stderr}`.split("\n").filter((line) => line.startsWith("owl_"))).toEqual([]);
});
