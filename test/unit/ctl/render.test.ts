// What people read: widths with Hangul, tables, figures, the status screen and the live block.

import { describe, expect, test } from "vitest";
import type { RolloutEvent } from "../../../config/control-api.ts";
import { age, bytes, elapsed } from "../../../ctl/render/figures.ts";
import { progressLines } from "../../../ctl/render/rollout-view.ts";
import { statusLines } from "../../../ctl/render/status-view.ts";
import { table } from "../../../ctl/render/table.ts";
import { painter } from "../../../ctl/render/terminal.ts";
import { cut, pad, widthOf } from "../../../ctl/render/width.ts";
import { textOf } from "../../../ctl/text/text.ts";
import { anEvent, aRollout, aStatus } from "../../support/fake-owld.ts";

const en = textOf("en");
const ko = textOf("ko");

const plain = painter(false);
const nowMs = Date.parse("2026-01-01T00:10:00Z");

describe("widths", () => {
  test("Hangul takes two columns, colours none", () => {
    expect(widthOf("준비됨")).toBe(6);
    expect(widthOf("\u001b[31mred\u001b[0m")).toBe(3);
    expect(pad("상태", 6)).toBe("상태  ");
    expect(cut("서비스 이름", 6)).toBe("서비…");
    expect(cut("\u001b[31mabcdef\u001b[0m", 4)).toBe("\u001b[31mabc…\u001b[0m");
  });

  test("columns line up in both languages", () => {
    const lines = table(
      ["상태", { title: "PID", align: "right" }],
      [
        ["준비됨", "7"],
        ["x", "1234"],
      ],
      (text) => text,
    );
    expect(lines.map(widthOf)).toEqual([12, 12, 12]);
  });
});

test("figures", () => {
  expect([800, 12_340, 125_000, 3_600_000, 200_000_000].map(elapsed)).toEqual([
    "0.8s",
    "12.3s",
    "2m 05s",
    "1h 00m",
    "2d 7h",
  ]);
  expect([0, 512, 5e7, 2 ** 30].map(bytes)).toEqual(["-", "512 B", "47.7 MiB", "1.0 GiB"]);
  expect([5_000, 600_000].map(age)).toEqual(["5s", "10m"]);
});

describe("status", () => {
  test.each([en, ko])("holds every instance and every warning", (text) => {
    const lines = statusLines(aStatus({ rollout: aRollout() }), { text, paint: plain, nowMs }).join("\n");
    for (const part of ["web-7", "web-8", "worker-2", "r-12", "The disk is nearly full.", "127.0.0.1:8080"])
      expect(lines).toContain(part);
  });

  test("a number that outlives owl.yaml's is marked, and what never started has no exit code", () => {
    const status = aStatus();
    const [web, ...rest] = status.services;
    const lastExit = { known: true, code: null, signal: null, at: "2026-01-01T00:09:00Z", outOfMemory: "no" } as const;
    const instances = web?.instances.map((one) => ({ ...one, lastExit })) ?? [];
    const services = [{ ...(web as NonNullable<typeof web>), scaledFrom: 5, instances }, ...rest];
    const lines = statusLines({ ...status, services }, { text: en, paint: plain, nowMs }).join("\n");
    expect(lines).toContain("(scaled; owl.yaml: 5)");
    expect(lines).toContain("did not start, 60s ago");
  });

  test("without a database there is no word of connections and workers", () => {
    const lines = statusLines(aStatus({ connections: null, workers: null }), { text: en, paint: plain, nowMs }).join(
      "\n",
    );
    expect(lines).not.toMatch(/connections|workers/);
  });
});

test("the live block shows elapsed, expected, steps, and each instance's last event", () => {
  const last = new Map([
    ["web-9", anEvent("web-9", "ready") as RolloutEvent],
    ["web-7", anEvent("web-7", "draining") as RolloutEvent],
  ]);
  const rollout = aRollout({ estimate: { expectedMs: 40_000, worstMs: 370_000 } });
  const clock = {
    now: () => nowMs,
    monotonicMs: () => 0,
    sleep: async () => {},
    after: () => () => {},
    async *every() {},
  };
  const lines = progressLines(
    { last, rollout, away: true },
    { id: "r-12", text: en, paint: plain, clock, sinceMs: 0, frame: "*" },
  );
  expect(lines[0]).toBe("* restart r-12  10m 00s  expected 40.0s, at most 6m 10s");
  expect(lines[1]).toContain("step 0 of 2");
  expect(lines[2]).toBe("  web  web-9 ready   web-7 draining 10m 00s");
  expect(lines[3]).toContain("owld is away");
});
