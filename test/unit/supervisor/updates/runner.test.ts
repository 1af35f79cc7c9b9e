// Updates and rollbacks of every sort, the supervisor killed before each single write of theirs, and then once more: the
// next one ends them just as if nothing had happened.

import { describe, expect, test } from "vitest";
import type { UpdatePlanned } from "../../../../supervisor/core/update-plan.ts";
import type { NewCourse } from "../../../../supervisor/updates/runner.ts";
import { createPaperDisk } from "../../../support/memory-store.ts";
import { type Leg, type Life, live, type World } from "../../../support/update-world.ts";

const A = { version: "A", path: "/r/A" };
const B = { version: "B", path: "/r/B" };
const HEAD = ["stage", "preflight", "compare"] as const;
const TAIL = ["replace", "confirm", "switch", "trial", "prune"] as const;

function plan(schema: UpdatePlanned["schema"], workers: UpdatePlanned["workers"] = "drainFirst"): UpdatePlanned {
  const drain = workers === "overlap" ? [] : (["drain"] as const);
  const between = {
    none: ["migrate", ...drain] as const,
    compatible: ["migrate", ...drain] as const,
    incompatible: ["drain", "close", "copy", "migrateClosed"] as const,
  }[schema];
  return {
    verdict: "planned",
    workers,
    reasons: [],
    schema,
    pending: [],
    queueMigration: false,
    steps: [...HEAD, ...between, ...TAIL],
    worstWithoutWorkersMs: 0,
    worstDowntimeMs: 0,
    way: { back: schema === "incompatible" ? "restoreCopy" : "code" },
  };
}

const UPDATE: NewCourse = {
  kind: "update",
  source: "/b.tar.zst",
  overlapAsked: false,
  from: A,
  to: null,
  restoreFrom: null,
  approval: null,
  present: [],
};
const BACK: NewCourse = { ...UPDATE, kind: "rollback", source: null, from: B, to: A };
const OLD = { releases: [], current: "A", schema: 1, copies: {} };
const COMPATIBLE = { A: [1, 2], B: [2] };
const INCOMPATIBLE = { A: [1], B: [2] };

type Wanted = Omit<World, "wrong" | "workers" | "web"> & { readonly ends: { state: string; reason: string | null } };
const good = { state: "succeeded", reason: null };
const rolledBack = (step: string) => ({
  state: "failed",
  reason: `${step}: ${step} cannot be done. Rolled back to A.`,
});
const untouched = (step: string) => ({ state: "failed", reason: `${step}: ${step} cannot be done.` });

function update(
  name: string,
  schema: UpdatePlanned["schema"],
  failing: Leg["failing"],
  livesWith: Leg["livesWith"],
): Leg {
  return { name, begin: UPDATE, plan: plan(schema), failing, livesWith, before: OLD };
}

const LEGS: readonly (readonly [Leg, Wanted])[] = [
  [
    update("an update with a changed job format", "none", null, { A: [1], B: [1] }),
    { releases: ["B"], current: "B", schema: 1, copies: {}, ends: good },
  ],
  [
    update("a compatible update", "compatible", null, COMPATIBLE),
    { releases: ["B"], current: "B", schema: 2, copies: {}, ends: good },
  ],
  [
    {
      ...update("one that overlaps", "none", null, { A: [1], B: [1] }),
      plan: plan("none", "overlap"),
    },
    { releases: ["B"], current: "B", schema: 1, copies: {}, ends: good },
  ],
  [
    update("an incompatible update", "incompatible", null, INCOMPATIBLE),
    { releases: ["B"], current: "B", schema: 2, copies: { "r-1": 1 }, ends: good },
  ],
  [update("a refused one", "compatible", "preflight", COMPATIBLE), { ...OLD, ends: untouched("preflight") }],
  [
    update("a compatible one whose migration fails", "compatible", "migrate", COMPATIBLE),
    { ...OLD, ends: untouched("migrate") },
  ],
  [
    update("a compatible one with a broken web", "compatible", "replace", COMPATIBLE),
    { ...OLD, schema: 2, ends: rolledBack("replace") },
  ],
  [
    update("a compatible one that is not confirmed", "compatible", "confirm", COMPATIBLE),
    { ...OLD, schema: 2, ends: rolledBack("confirm") },
  ],
  [
    update("one whose link cannot be switched", "incompatible", "switch", INCOMPATIBLE),
    { ...OLD, ends: rolledBack("switch") },
  ],
  [
    update("one whose owld does not come up", "compatible", "trial", COMPATIBLE),
    { ...OLD, schema: 2, ends: rolledBack("trial") },
  ],
  [
    update("an incompatible one whose owld does not come up", "incompatible", "trial", INCOMPATIBLE),
    { ...OLD, ends: rolledBack("trial") },
  ],
  [
    update("an incompatible one whose copy fails", "incompatible", "copy", INCOMPATIBLE),
    { ...OLD, ends: rolledBack("copy") },
  ],
  [
    update("an incompatible one whose migration fails", "incompatible", "migrateClosed", INCOMPATIBLE),
    { ...OLD, ends: rolledBack("migrateClosed") },
  ],
  [
    update("an incompatible one with a broken web", "incompatible", "replace", INCOMPATIBLE),
    { ...OLD, ends: rolledBack("replace") },
  ],
  [
    {
      name: "a rollback of code only",
      begin: BACK,
      plan: null,
      failing: null,
      livesWith: COMPATIBLE,
      before: { releases: ["A", "B"], current: "B", schema: 2, copies: {} },
    },
    { releases: ["A", "B"], current: "A", schema: 2, copies: {}, ends: good },
  ],
  [
    {
      name: "a rollback to the copy",
      begin: { ...BACK, restoreFrom: "r-0" },
      plan: null,
      failing: null,
      livesWith: INCOMPATIBLE,
      before: { releases: ["A", "B"], current: "B", schema: 2, copies: { "r-0": 1 } },
    },
    { releases: ["A", "B"], current: "A", schema: 1, copies: { "r-0": 1, "r-1": 2 }, ends: good },
  ],
  [
    {
      name: "a rollback whose copy cannot be read",
      begin: { ...BACK, restoreFrom: "r-0" },
      plan: null,
      failing: "restore",
      livesWith: INCOMPATIBLE,
      before: { releases: ["A", "B"], current: "B", schema: 2, copies: { "r-0": 1 } },
    },
    {
      releases: ["A", "B"],
      current: "B",
      schema: 2,
      copies: { "r-0": 1 },
      ends: { state: "failed", reason: "restore: restore cannot be done. Rolled back to B." },
    },
  ],
];

/** Killed at these touches, one a life, then left alone. */
async function run(leg: Leg, kills: readonly number[]): Promise<{ last: Life; kills: number; touches: number }> {
  const disk = createPaperDisk();
  const { releases, current, schema, copies } = leg.before;
  const world: World = {
    releases,
    current,
    schema,
    copies,
    workers: [current],
    web: [current],
    wrong: [],
  };
  const first = await live(leg, world, disk, kills[0] ?? 0, "first");
  let last = first;
  let killed = last.killed ? 1 : 0;
  for (const killAt of [...kills.slice(1), 0]) {
    if (!last.killed) break;
    last = await live(leg, world, disk, killAt, "later");
    if (last.killed) killed++;
  }
  return { last, kills: killed, touches: first.touches };
}

function expectEnd({ world, rollouts }: Life, leg: Leg, wanted: Wanted, where: string): void {
  expect(world.wrong, where).toEqual([]);
  // Killed before it was on record, it has never been asked for.
  if (rollouts.length === 0) expect(world, where).toMatchObject(leg.before);
  else {
    const { ends, ...state } = wanted;
    expect(rollouts, where).toEqual([ends]);
    const { wrong: _, ...found } = world;
    expect(found, where).toEqual({ ...state, workers: [state.current], web: [state.current] });
  }
}

describe("killed before any write,", () => {
  test.each(LEGS.map(([leg, wanted]) => [leg.name, leg, wanted] as const))("%s", async (_, leg, wanted) => {
    const whole = await run(leg, []);
    expectEnd(whole.last, leg, wanted, "unhurt");
    expect(whole.last.rollouts).toHaveLength(1);
    for (let killAt = 1; killAt <= whole.touches; killAt++) {
      const once = await run(leg, [killAt]);
      expect(once.kills).toBe(1);
      expectEnd(once.last, leg, wanted, `killed at ${killAt}`);
      const again = 1 + ((killAt * 7) % 23);
      const twice = await run(leg, [killAt, again, 2]);
      expectEnd(twice.last, leg, wanted, `killed at ${killAt}, then at ${again}, then at 2`);
    }
  });
});
