// A short chaos run with a fixed seed: the bundled application as `npm start` brings it up, kills, freezes and restarts
// in the middle of its work, and every promise checked from outside. `npm run chaos` is the long one.

import { expect, test } from "vitest";
import { reportLines } from "../../chaos/report.ts";
import { runChaos } from "../../chaos/run.ts";

test("killed and frozen processes and restarts in between break no promise", async () => {
  const report = await runChaos({
    seed: 20,
    minutes: 2,
    faults: ["kill-web", "kill-worker", "kill-supervisor", "kill-proxy", "terminate-listen", "freeze-worker"],
    faultEveryMs: 7_000,
    operationEveryMs: 12_000,
    root: null,
    releases: null,
    strict: false,
    load: { turns: 3, playbooks: 1, plain: 2, recordings: 4 },
    echo: () => undefined,
    keep: false,
  });
  expect(report.violations, reportLines(report).join("\n")).toEqual([]);
  // It did what it is for: work was accepted and ended, and something was really hurt.
  expect(Object.keys(report.injected).length).toBeGreaterThan(2);
  const { turns } = report.figures as { turns: Record<string, number> };
  expect(turns.answered).toBeGreaterThan(0);
}, 900_000);
