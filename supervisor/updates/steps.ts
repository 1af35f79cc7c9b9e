// What each step of an update does. Every one of them first asks whether it is done already: it may be taken again
// after owld was killed in its middle.
// Invariant: processes are touched only through the decision loop (holds, code, targets); here it is only waited for.

import type { Config, ServiceConfig } from "../../config/config.ts";
import type { PreflightLine, WorkerStatus } from "../../config/control-api.ts";
import { invariant, OwlError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { type Instance, isLiving, isServing } from "../core/instance.ts";
import type { Manifest } from "../core/manifest.ts";
import { inOrder, waitingSteps } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import { type CourseStep, isBack, type ReleaseRef, servingRelease } from "../core/update-course.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { UpdateDatabase } from "../ports.ts";
import type { ReleaseFolder } from "../release/folder.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Assess } from "./assessment.ts";
import type { CourseEnds } from "./ends.ts";
import type { ReleaseJudge } from "./judge.ts";
import type { TakeStep } from "./runner.ts";
import { askThroughProxy } from "./smoke.ts";

interface UpdateStepParts {
  readonly clock: Clock;
  readonly book: InstanceBook;
  readonly rollouts: RolloutRunner;
  readonly planner: Planner;
  readonly config: () => Config;
  readonly wanted: (service: ServiceConfig) => number;
  readonly workers: () => readonly WorkerStatus[] | null;
  readonly preflight: () => Promise<readonly PreflightLine[]>;
  readonly folder: Pick<ReleaseFolder, "stage">;
  /** The preflight of the release's own code. Throws with its words where it refuses the configuration. */
  readonly judge: ReleaseJudge;
  readonly assess: Assess;
  readonly manifest: (release: ReleaseRef) => Promise<Manifest>;
  readonly database: () => Pick<UpdateDatabase, "migrate" | "prepare" | "copy" | "restore" | "newerJobs">;
  /** The last lines an instance wrote. */
  readonly tail: (instance: string, lines: number) => Promise<readonly string[]>;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly ends: CourseEnds;
}

const LOOK_MS = 100;
const LINES = 5;
const SAY_MS = 5_000;

/** Throws `preflight.failed` naming every check that failed, whose preflight it was, and the first one's command. */
function refuseFailed(lines: readonly PreflightLine[], release: string | null): void {
  const failed = lines.filter(({ verdict }) => verdict === "FAIL");
  const [first] = failed;
  if (first === undefined) return;
  const names = [...new Set(failed.map(({ check }) => check))].join(", ");
  const found = first.found.replace(/\.$/, "");
  throw new Refusal("preflight.failed", ({ refused }) =>
    refused.update.preflight(names, release, found, first.command),
  );
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of the steps, with what they share above it.
export function createUpdateSteps(parts: UpdateStepParts): Readonly<Record<CourseStep, TakeStep>> {
  const { clock, book } = parts;
  const { update: words, rollout } = parts.record.recorded;
  const bundled = (): readonly ServiceConfig[] => parts.config().services.filter((service) => service.bundled);
  const isWeb = (name: string): boolean => bundled().some((one) => one.name === name && one.routes.length > 0);
  const ours = (): readonly Instance[] =>
    book.all().filter(({ service }) => bundled().some(({ name }) => name === service));

  /** Looks until `done` answers true; says what it waits for now and then. */
  async function waitFor(
    done: () => boolean,
    waiting: () => string,
    say: (message: string) => void,
    signal: AbortSignal,
  ) {
    let saidMs = clock.monotonicMs();
    while (!done()) {
      if (clock.monotonicMs() - saidMs >= SAY_MS) {
        say(waiting());
        saidMs = clock.monotonicMs();
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  async function untilGone(which: (one: Instance) => boolean, say: (message: string) => void, signal: AbortSignal) {
    const living = (): readonly Instance[] => ours().filter((one) => which(one) && isLiving(one));
    const named = (): string =>
      living()
        .map((one) => {
          const sinceMs = clock.monotonicMs() - (one.signalledMs ?? clock.monotonicMs());
          return words.graceLeft(one.id, Math.round(sinceMs / 1_000), Math.round(one.stop.graceMs / 1_000));
        })
        .join(", ");
    if (living().length > 0)
      say(
        words.askedToStop(
          living()
            .map(({ id }) => id)
            .join(", "),
        ),
      );
    await waitFor(
      () => living().length === 0,
      () => words.waitingFor(named()),
      say,
      signal,
    );
  }

  const badOf = (release: ReleaseRef): Instance | undefined =>
    ours().find((one) => one.release === release.version && (one.state === "backoff" || one.state === "unhealthy"));

  /** `why`, and what the bad instance said last where that is not in it yet. */
  async function withLastLines(why: string, release: ReleaseRef): Promise<string> {
    const bad = badOf(release);
    if (bad === undefined || why.includes(rollout.lastLines)) return why;
    const lines = await parts.tail(bad.id, LINES).catch(() => []);
    return lines.length === 0 ? why : `${why}\n${rollout.lastLines}\n${lines.join("\n")}`;
  }

  /** Why the instances of that release are no good, or null. */
  function trouble(release: ReleaseRef): string | null {
    const failure = parts.rollouts.facts()?.failure ?? null;
    if (failure !== null) return failure;
    const bad = badOf(release);
    if (bad === undefined) return null;
    const exit = bad.lastExit;
    const how = exit?.known ? (exit.signal ?? rollout.exitCode(exit.code)) : null;
    return how === null ? words.bad(bad.id, bad.cause) : words.endedByItself(bad.id, how);
  }

  function complete(release: ReleaseRef): boolean {
    return bundled().every((service) => {
      const all = book.all().filter((one) => one.service === service.name && isLiving(one));
      const good = all.filter((one) => one.release === release.version && isServing(one) && one.routed);
      return good.length >= parts.wanted(service) && all.every((one) => one.release === release.version);
    });
  }

  const replace: TakeStep = async (course, say, signal) => {
    const release = servingRelease(course);
    const old = ours().filter((one) => one.wanted === "up" && isLiving(one) && one.release !== release.version);
    // Those of that release that were being replaced stay: set aside, they go back into the table at once.
    for (const one of ours()) {
      const stays = one.wanted === "up" && isLiving(one) && one.release === release.version;
      if (stays && one.replaceCause !== null && isBack(course)) book.set(one.id, { replaceCause: null });
    }
    const standing = inOrder(
      old,
      bundled().map(({ name }) => name),
    );
    parts.rollouts.retarget(
      standing.map(({ id }) => id),
      waitingSteps(parts.planner({ targets: standing, confirmMs: parts.rollouts.facts()?.confirmMs ?? 0 })),
    );
    say(words.starting(release.version));
    await waitFor(
      () => complete(release) || (!isBack(course) && trouble(release) !== null),
      () => words.waitingAlone(release.version),
      say,
      signal,
    );
    const why = isBack(course) ? null : trouble(release);
    if (why !== null && !complete(release)) throw new OwlError("update.replace", await withLastLines(why, release));
    if (isBack(course) || course.kind === "rollback") await sayNewerJobs(release, say);
    return undefined;
  };

  /** Which waiting jobs older code leaves in line: told, never a reason to stop. */
  async function sayNewerJobs(release: ReleaseRef, say: (message: string) => void): Promise<void> {
    const manifest = await parts.manifest(release).catch(() => null);
    if (manifest === null) return;
    const count = await parts
      .database()
      .newerJobs(manifest.jobKinds)
      .catch(() => 0);
    if (count > 0) say(parts.record.rollback.newerJobs(count));
  }

  const drain: TakeStep = async (course, say, signal) => {
    if (course.plan?.workers !== "overlap") await untilGone(({ service }) => !isWeb(service), say, signal);
    // On the way to older code alone: the queues as that code declares them, before any process of it starts.
    if (isBack(course)) await parts.database().prepare(course.from.path, say, signal);
    else if (course.kind === "rollback" && course.restoreFrom === null && course.to !== null)
      await parts.database().prepare(course.to.path, say, signal);
    return undefined;
  };
  const close: TakeStep = async (_, say, signal) => {
    await untilGone(() => true, say, signal);
    return undefined;
  };

  return {
    async stage(course, say, signal) {
      invariant(course.source !== null, "an update has a source");
      say(words.reading(course.source));
      const { version, path, signing } = await parts.folder.stage(course.source, signal, course.allowUnsigned ?? false);
      if (signing !== "checked") say(parts.record.signing[signing]);
      // A repeated staging finds its own work there: what lay here before the update began decides.
      return { to: { version, path }, staged: !course.present.includes(version) };
    },
    async preflight(course, _say, signal) {
      if (course.to?.version === course.from.version)
        throw new Refusal("update.same", ({ refused }) => refused.update.same(course.from.version));
      refuseFailed(await parts.preflight(), null);
      invariant(course.to !== null, "a release is staged before preflight");
      const judged = await parts.judge(course.to, parts.record, signal);
      // The database it will find is the copy that is put back, not the one of now.
      const lines = course.restoreFrom === null ? judged : judged.filter(({ check }) => check !== "migrations");
      refuseFailed(lines, course.to.version);
      return undefined;
    },
    async compare(course, say) {
      invariant(course.to !== null, "a release is staged before it is compared");
      const plan = await parts.assess(course.to, course.overlapAsked, parts.record);
      if (plan.verdict === "refused") throw new Refusal(plan.code, plan.words);
      say(plan.workers === "overlap" ? words.overlap : words.drainFirst);
      return { plan };
    },
    async migrate(course, say, signal) {
      invariant(course.to !== null, "a release is staged before it migrates");
      await parts.database().migrate(course.to.path, say, signal);
      return undefined;
    },
    drain,
    drainBack: drain,
    close,
    closeBack: close,
    async copy(course, say, signal) {
      return { copy: await parts.database().copy(course.id, say, signal) };
    },
    async migrateClosed(course, say, signal) {
      invariant(course.to !== null, "a release is staged before it migrates");
      await parts.database().migrate(course.to.path, say, signal);
      return undefined;
    },
    async restore(course, say, signal) {
      const path = isBack(course) ? course.copy : course.restoreFrom;
      invariant(path !== null, "there is a copy to restore");
      const code = isBack(course) ? course.from : (course.to ?? course.from);
      await parts.database().restore(path, code.path, say, signal);
      return undefined;
    },
    replace,
    replaceBack: replace,
    async confirm(course, say, signal) {
      invariant(course.to !== null, "a release serves before it is confirmed");
      const release = course.to;
      // Web has stood while its old ones were still there; whoever is newest has the rest of its time before it.
      const { updateConfirmMs } = parts.config().rollout;
      const newestMs = Math.max(0, ...ours().map(({ readyMs }) => readyMs ?? clock.monotonicMs()));
      const untilMs = newestMs + updateConfirmMs;
      say(words.watching(release.version, Math.round(Math.max(0, untilMs - clock.monotonicMs()) / 1_000)));
      do {
        const why = trouble(release) ?? (complete(release) ? null : words.notAllReady);
        if (why !== null) throw new OwlError("update.confirm", await withLastLines(why, release));
        const silent = parts.workers()?.find(({ id, state }) => state === "stalled" && book.get(id) !== null);
        if (silent !== undefined) throw new OwlError("update.confirm", words.silent(silent.id));
        await clock.sleep(LOOK_MS, signal);
      } while (clock.monotonicMs() < untilMs);
      await askThroughProxy(parts.config().proxy, signal);
      return undefined;
    },
    async switch(course) {
      parts.ends.switchTo(course);
      return undefined;
    },
    async trial(course, say, signal) {
      await parts.ends.trial(course, say, signal);
      return undefined;
    },
    async prune(course, say) {
      const gone = await parts.ends.prune(course);
      if (gone.length > 0) say(words.removed(gone.join(", ")));
      return undefined;
    },
  };
}
