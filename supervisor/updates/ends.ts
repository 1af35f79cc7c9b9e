// What lasts of an update: `current`, its owld on trial, the history; and what it staged and copied cleared away.

import { once } from "node:events";
import { realpathSync } from "node:fs";
import { invariant, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import type { Clock } from "../../config/time.ts";
import type { Text } from "../core/text/text.ts";
import type { Outcome, UpdateCourse } from "../core/update-course.ts";
import type { InstanceBook } from "../instances/book.ts";
import { pruneReleases, type ReleaseHistory, switchCurrent } from "../release/current.ts";
import type { ReleaseFolder } from "../release/folder.ts";
import type { CopyKeeper } from "./copies.ts";
import { beginTrial, endTrial, knowsTrial, readTrial } from "./trial.ts";

interface CourseEndParts {
  readonly clock: Pick<Clock, "now">;
  readonly paths: HomePaths;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly history: ReleaseHistory;
  readonly copies: CopyKeeper;
  readonly folder: Pick<ReleaseFolder, "running" | "unstage">;
  readonly book: Pick<InstanceBook, "all">;
  /** The course this owld found when it started. */
  readonly found: UpdateCourse | null;
  readonly reexec: () => void;
}

export interface CourseEnds {
  /** Makes the release current, its owld on trial. */
  switchTo(course: UpdateCourse): void;
  /** Starts the new owld, which takes this step again; resolves in it, throws in the old one with why it is back. */
  trial(course: UpdateCourse, say: (message: string) => void, signal: AbortSignal): Promise<void>;
  /** Removes releases and copies nobody needs any more; answers the versions. */
  prune(course: UpdateCourse): Promise<readonly string[]>;
  /** It did not succeed, so nothing runs from what it staged: that goes, unless it was there before. Repeatable. */
  discard(course: UpdateCourse, outcome: Outcome): Promise<void>;
}

export function createCourseEnds(parts: CourseEndParts): CourseEnds {
  const { clock, paths, history, copies, folder, found } = parts;
  const recorded = parts.record.recorded.update;

  function note(course: UpdateCourse): void {
    const { to, kind } = course;
    invariant(to !== null, "a release serves before it is on record");
    const known = history.all().find(({ version }) => version === to.version);
    const kept =
      kind === "rollback"
        ? { copy: known?.copy ?? null, before: known?.before ?? null }
        : { copy: course.copy, before: course.from };
    history.add({ ...to, finishedAt: clock.now(), ...kept });
  }

  return {
    switchTo({ from, to }) {
      invariant(to !== null, "a release serves before it is current");
      // Taken again it keeps the record: `current` may name the new release already.
      if (folder.running.path === to.path || !knowsTrial(to)) endTrial(paths);
      else if (readTrial(paths)?.to !== realpathSync(to.path)) beginTrial(paths, from, to);
      switchCurrent(paths, to.path);
    },
    async trial({ id, from, to }, say, signal) {
      invariant(to !== null, "a release serves before its owld is on trial");
      const trial = readTrial(paths);
      if (folder.running.path === to.path || trial === null) return;
      if (trial.starts > 0) {
        switchCurrent(paths, trial.back === "" ? null : trial.back);
        throw new OwlError("update.trial", recorded.trialFailed(to.version, trial.ends.join("; ")));
      }
      if (found?.id === id && found.step === "trial") {
        // Started again, but not through `current`: by a checkout, or a path of one's own.
        say(recorded.notThroughCurrent(from.version));
        return;
      }
      say(recorded.trialBegins(to.version));
      parts.reexec();
      // The next owld takes this step again; here it never ends.
      if (!signal.aborted) await once(signal, "abort");
      signal.throwIfAborted();
    },
    async prune(course) {
      note(course);
      endTrial(paths);
      const inUse = [course.from.version, ...parts.book.all().map(({ release }) => release)];
      const gone = await pruneReleases(paths, history, inUse);
      await copies.prune(course.copy);
      return gone;
    },
    async discard(course, { isWhole }) {
      endTrial(paths);
      if (!isWhole && course.copy !== null) copies.keepForRescue(course.id, course.copy);
      await copies.prune(null);
      // Half-way something of it may run; past `switch` it is what runs, whatever failed after it.
      if (!isWhole || !course.staged || course.to === null || history.current()?.version === course.to.version) return;
      await folder.unstage(course.to);
    },
  };
}
