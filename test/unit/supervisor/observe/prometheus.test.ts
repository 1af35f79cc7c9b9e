// The alert rules and the dashboard ask for metrics that owld has.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const room = new URL("../../../../supervisor/observe/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, room), "utf8");
const known = new Set([...read("samples.ts").matchAll(/"(owl_[a-z_]+)"/g)].map(([, name]) => name ?? ""));

test("metrics are named by convention: counters in _total, nothing else, and no unit but seconds and bytes", () => {
  const declared = [...read("samples.ts").matchAll(/\b(gauge|counter|one)\(\s*"(owl_[a-z_]+)"/g)];
  expect(declared.length).toBeGreaterThan(30);
  for (const [, type, name = ""] of declared) {
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    expect(name, name).not.toMatch(/_(ms|millis|milliseconds|minutes|kb|mb|mib|percent)(_|$)/);
  }
});

test.for(["prometheus/alerts.yaml", "prometheus/alerts.test.yaml", "prometheus/dashboard.json"])("%s", (file) => {
  const asked = [...read(file).matchAll(/\bowl_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ""));
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.filter((name) => !known.has(name))).toEqual([]);
});
