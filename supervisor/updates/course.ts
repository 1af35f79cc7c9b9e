// The course of the update under way, on record, and what it means for the rest of owld: which services rest, what the
// pages answer meanwhile, which release new instances are started from. Invariant: read from the state file first, so
// that it is known before anything runs.

import type { ServiceConfig } from "../../config/config.ts";
import { holds, type ReleaseRef, servingRelease, type UpdateCourse } from "../core/update-course.ts";
import { endFact, keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";

const RETRY_AFTER_S = 10;

export interface CourseRecord {
  /** null: no update is under way. */
  present(): UpdateCourse | null;
  keep(course: UpdateCourse | null): void;
  /** The service is to have no instance now. */
  rests(service: Pick<ServiceConfig, "bundled" | "routes">): boolean;
  /** Why the pages answer 503, or null. */
  closed(): { readonly retryAfterS: number; readonly reason: string } | null;
  /** The release new instances are started from. `running`: owld's own. */
  serving(running: ReleaseRef): ReleaseRef;
}

export function createCourseRecord(store: Pick<Store, "all" | "put" | "remove">): CourseRecord {
  // One begun by an owld that kept less of it lacks the newest members.
  const found = readFact(store, "update");
  let course = found === null ? null : { ...found, present: found.present ?? [], outcome: found.outcome ?? null };
  return {
    present: () => course,
    keep(next) {
      course = next;
      if (next === null) endFact(store, "update");
      else keepFact(store, "update", next);
    },
    rests(service) {
      if (!service.bundled || course === null) return false;
      const { workers, web } = holds(course);
      return service.routes.length > 0 ? web : workers;
    },
    closed: () =>
      course !== null && holds(course).web ? { retryAfterS: RETRY_AFTER_S, reason: "Owl is being updated." } : null,
    serving: (running) => (course === null ? running : servingRelease(course)),
  };
}
