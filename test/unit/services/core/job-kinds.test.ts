// THE table: every kind has every column, a handler, a queue, a lost-job rule; its dangerous figures are as decided.

import { expect, test } from "vitest";
import { JOB_KINDS } from "../../../../config/config.ts";
import { jobKindRow, jobKinds } from "../../../../services/core/job-kinds.ts";
import { lostEndings } from "../../../../services/db/lost-endings.ts";
import { createHandlers } from "../../../../services/jobs/handlers.ts";
import { testAppConfig } from "../../../support/services.ts";

test("every kind of the manifest is in the table, and no other", () => {
  expect(Object.keys(jobKinds).sort()).toEqual([...JOB_KINDS].sort());
});

test.each(JOB_KINDS)("%s has every column, an ending for its loss and a handler", (kind) => {
  const row = jobKindRow(kind);
  for (const column of ["table", "onStop", "lost", "lossLimit", "format", "argument", "queue", "why"] as const) {
    expect(row[column], column).toBeDefined();
  }
  expect(lostEndings[kind]).toBeTypeOf("function");
  const handlers: Readonly<Record<string, { run: unknown; fail: unknown }>> = createHandlers({
    config: testAppConfig("", "/"),
    sources: {} as never,
  });
  expect(handlers[kind]?.run).toBeTypeOf("function");
  expect(handlers[kind]?.fail).toBeTypeOf("function");
});

test.each(JOB_KINDS)(
  "%s is never run again by the queue library itself, and its lease outlives our own heartbeat",
  (kind) => {
    const { queue } = jobKindRow(kind);
    expect(queue.retryLimit).toBe(0);
    expect(queue.heartbeatSeconds).toBe(90);
    expect(queue.expireInSeconds).toBe(86_400);
  },
);

test("only transcription is requeued, and not for ever; only it is handed back at a stop; only chat has a budget", () => {
  expect(JOB_KINDS.filter((kind) => jobKindRow(kind).lost === "requeue")).toEqual(["transcription"]);
  expect(JOB_KINDS.filter((kind) => jobKindRow(kind).onStop === "handBack")).toEqual(["transcription"]);
  expect(JOB_KINDS.filter((kind) => jobKindRow(kind).onStop === "budget")).toEqual(["chat"]);
  expect(jobKindRow("transcription").lossLimit).toBe(5);
});
