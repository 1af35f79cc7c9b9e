// An installation for the update runner, on paper: releases, `current`, a schema, copies, workers and web processes. Everything that lasts goes through `touch`, where the supervisor can be killed.

import { pino } from "pino";
import { OwlError } from "../../config/errors.ts";
import { en } from "../../supervisor/core/text/text.ts";
import type { CourseStep, Outcome, UpdateCourse } from "../../supervisor/core/update-course.ts";
import { holds, servingRelease } from "../../supervisor/core/update-course.ts";
import type { UpdatePlanned } from "../../supervisor/core/update-plan.ts";
import { createJournal } from "../../supervisor/rollouts/journal.ts";
import { createRolloutRunner } from "../../supervisor/rollouts/record.ts";
import { createCourseRecord } from "../../supervisor/updates/course.ts";
import { createUpdateRunner, type NewCourse, type TakeStep } from "../../supervisor/updates/runner.ts";
import { openMemoryStore, type PaperDisk } from "./memory-store.ts";
import { createTestClock, settle } from "./test-clock.ts";

export interface Leg {
  readonly name: string;
  readonly begin: NewCourse;
  readonly plan: UpdatePlanned | null;
  /** Fails whenever it is taken, on the way forward. */
  readonly failing: CourseStep | null;
  /** Schemas each release can live with. */
  readonly livesWith: Readonly<Record<string, readonly number[]>>;
  readonly before: Pick<World, "releases" | "current" | "schema" | "copies">;
}

export interface World {
  releases: readonly string[];
  current: string;
  schema: number;
  /** Schema in each copy. */
  copies: Readonly<Record<string, number>>;
  workers: readonly string[];
  web: readonly string[];
  /** What must never have been seen. */
  wrong: string[];
}

export interface Life {
  readonly world: World;
  readonly rollouts: readonly { readonly state: string; readonly reason: string | null }[];
  /** Killed at that touch; null: it lived to the end of the update. */
  readonly killed: boolean;
  readonly touches: number;
}

/** One life of the supervisor: it begins the leg's update, or goes on with what is on record, until killed or done. */
export async function live(
  leg: Leg,
  world: World,
  disk: PaperDisk,
  killAt: number,
  life: "first" | "later",
): Promise<Life> {
  let touches = 0;
  let dead = false;
  const touch = (): void => {
    touches++;
    if (touches === killAt) dead = true;
    if (dead) throw new Error("killed");
  };
  const store = openMemoryStore(disk, touch);
  const clock = createTestClock();
  const log = pino({ level: "silent" });
  const journal = createJournal(store, clock, log);
  const rollouts = createRolloutRunner({
    record: en,
    clock,
    store,
    journal,
    bootId: "boot",
    proxies: {
      counters: () => ({ failures: 0, retries: 0, streamsMoved: 0, upstreams: [] }) as never,
      tallies: () => new Map(),
    },
    refreshCounters: async () => undefined,
    changed: () => undefined,
    kept: () => 200,
  });

  function change(next: Partial<World>): void {
    touch();
    Object.assign(world, next);
  }

  /** What the decision loop would do now; starting needs no record of ours. */
  function fill(course: UpdateCourse | null): void {
    if (dead) return;
    const rests = course === null ? { workers: false, web: false } : holds(course);
    const version = course === null ? world.current : servingRelease(course).version;
    for (const kind of ["workers", "web"] as const) {
      if (rests[kind] || world[kind].length > 0) continue;
      if (!(leg.livesWith[version] ?? []).includes(world.schema))
        world.wrong.push(`${kind} of ${version} started with schema ${world.schema} in ${course?.step}`);
      world[kind] = [version];
    }
  }

  const discard = async (course: UpdateCourse, outcome: Outcome): Promise<void> => {
    if (outcome.isWhole) change({ copies: leg.before.copies });
    if (course.staged) change({ releases: world.releases.filter((one) => one !== course.to?.version) });
  };
  const course = createCourseRecord(store);
  const runner = createUpdateRunner({
    store,
    course,
    journal,
    rollouts,
    log,
    record: en,
    confirmMs: () => 0,
    steps: stepsOf(leg, world, change),
    discard,
    changed: fill,
    renewSelf: () => undefined,
  });
  fill(course.present());
  try {
    if (life === "first") runner.begin(leg.begin, 1_000);
    else runner.resume();
  } catch {
    // Killed while it began.
  }
  while (!dead && (course.present() !== null || rollouts.facts() !== null)) {
    await settle();
    const facts = rollouts.facts();
    try {
      if (facts !== null && !facts.open) rollouts.end(facts.failure === null ? "succeeded" : "failed", null);
    } catch {
      // Killed at its end.
    }
  }
  await settle();
  const told = rollouts.recent(200).map(({ state, reason }) => ({ state, reason }));
  return { world, rollouts: told, killed: dead, touches };
}

/** Each in two parts where the real one has them: a kill may come between. */
function stepsOf(
  leg: Leg,
  world: World,
  change: (next: Partial<World>) => void,
): Readonly<Record<CourseStep, TakeStep>> {
  const fail = (step: CourseStep): void => {
    if (leg.failing === step) throw new OwlError("test", `${step} cannot be done.`);
  };
  const away = (kinds: readonly ("workers" | "web")[]): TakeStep => {
    return async () => {
      for (const kind of kinds) if (world[kind].length > 0) change({ [kind]: [] });
      return undefined;
    };
  };
  const migrate: TakeStep = async (course) => {
    fail(course.step);
    if (leg.plan?.schema !== "none") change({ schema: 2 });
    return undefined;
  };
  const replace: TakeStep = async (course) => {
    const { version } = servingRelease(course);
    if (course.failure === null) fail("replace");
    for (const kind of ["web", "workers"] as const)
      if (world[kind].some((one) => one !== version)) change({ [kind]: [version] });
    return undefined;
  };
  return {
    async stage(course) {
      const version = leg.begin.to?.version ?? "B";
      if (!world.releases.includes(version)) change({ releases: [...world.releases, version] });
      return { to: { version, path: `/r/${version}` }, staged: !course.present.includes(version) };
    },
    async preflight() {
      fail("preflight");
      return undefined;
    },
    async compare() {
      return leg.plan === null ? undefined : { plan: leg.plan };
    },
    migrate,
    migrateClosed: migrate,
    drain: away(["workers"]),
    drainBack: away(["workers"]),
    close: away(["workers", "web"]),
    closeBack: away(["workers", "web"]),
    async copy(course) {
      fail("copy");
      if (world.workers.length + world.web.length > 0) world.wrong.push("copied while somebody worked");
      if (world.copies[course.id] === undefined) change({ copies: { ...world.copies, [course.id]: world.schema } });
      return { copy: course.id };
    },
    async restore(course) {
      if (course.failure === null) fail("restore");
      if (world.workers.length + world.web.length > 0) world.wrong.push("restored while somebody worked");
      const path = course.failure === null ? course.restoreFrom : course.copy;
      const schema = world.copies[path ?? ""];
      if (schema === undefined) throw new OwlError("test", `There is no copy ${path}.`);
      change({ schema });
      return undefined;
    },
    replace,
    replaceBack: replace,
    async confirm() {
      fail("confirm");
      return undefined;
    },
    async switch(course) {
      fail("switch");
      if (course.to !== null && world.current !== course.to.version) change({ current: course.to.version });
      return undefined;
    },
    async trial(course) {
      // The launcher has put it back before the old owld hears of it.
      if (leg.failing === "trial" && world.current !== course.from.version) change({ current: course.from.version });
      fail("trial");
      return undefined;
    },
    async prune() {
      return undefined;
    },
  };
}
