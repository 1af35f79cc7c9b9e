// The four kinds as one list: what a filter lets through and what may be asked of whom.

import { expect, test } from "vitest";
import { JOB_KINDS } from "../../../../config/config.ts";
import {
  isUnfinished,
  JOB_FILTERS,
  jobActs,
  kindRetry,
  kindStates,
  sortColumn,
  wantedStates,
} from "../../../../services/core/job-view.ts";

test("every state of every kind is in exactly one of unfinished and ended", () => {
  const all = JOB_KINDS.flatMap((kind) => kindStates[kind].map((state) => `${kind} ${state}`));
  const named = (filter: "unfinished" | "ended") => wantedStates(filter).map(({ kind, state }) => `${kind} ${state}`);
  expect([...named("unfinished"), ...named("ended")].sort()).toEqual(all.sort());
  expect(named("unfinished")).toHaveLength(2 * JOB_KINDS.length + 2);
});

test("a state that only some kinds have leaves the others out", () => {
  expect(wantedStates("cancelled")).toEqual([{ kind: "transcription", state: "cancelled" }]);
  expect(wantedStates("answered")).toEqual([{ kind: "chat", state: "answered" }]);
  expect(wantedStates("failed")).toHaveLength(4);
});

test("ended jobs are sorted by their end and no filter is empty", () => {
  for (const filter of JOB_FILTERS) {
    expect(wantedStates(filter).length, filter).toBeGreaterThan(0);
    const hasEnd = wantedStates(filter).every(({ state }) => !isUnfinished(state));
    expect(sortColumn(filter), filter).toBe(hasEnd ? "ended_at" : "created_at");
  }
});

test("what has ended is not stopped, what succeeded or may have acted is not tried again", () => {
  for (const kind of JOB_KINDS) {
    for (const state of kindStates[kind]) {
      const { stop, retry } = jobActs(kind, state);
      expect(stop, `${kind} ${state}`).toBe(["queued", "running", "waiting"].includes(state));
      const isOver = state === "failed" || state === "stopped" || state === "cancelled";
      expect(retry, `${kind} ${state}`).toBe(isOver && kindRetry[kind] !== "never" ? kindRetry[kind] : null);
    }
  }
  expect(jobActs("chat", "failed").retry).toBeNull();
  expect(jobActs("playbook", "failed").retry).toBeNull();
  expect(jobActs("transcription", "failed").retry).toBe("again");
  expect(jobActs("schema-analysis", "failed").retry).toBe("anew");
});
