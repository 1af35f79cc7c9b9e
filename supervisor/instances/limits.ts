// Which processes the kernel is to bound, by the definition each runs by.
// Invariant: where that cannot be, `warnings` says so for as long as somebody is to be bounded.

import type { Sentence } from "../core/text/text.ts";
import type { ControlGroups, Limited } from "../process/control-groups.ts";
import type { Definitions } from "../state/definitions.ts";
import type { InstanceBook } from "./book.ts";
import type { TimedRuns } from "./schedules/timed-runs.ts";

interface LimitsParts {
  readonly groups: ControlGroups;
  readonly book: Pick<InstanceBook, "services">;
  readonly timed: Pick<TimedRuns, "all">;
  readonly definitions: Pick<Definitions, "serviceOf">;
}

interface Limits {
  /** Cheap where nobody has limits: to be called at every turn. */
  sync(): void;
  warnings(): readonly Sentence[];
}

export function createLimits({ groups, book, timed, definitions }: LimitsParts): Limits {
  return {
    sync() {
      const processes = [
        ...book.services().filter(({ state }) => state !== "exited" && state !== "backoff"),
        ...timed.all().map((run) => ({ ...run, rollout: null })),
      ];
      groups.sync(
        processes.flatMap(({ id, identity, ...one }): Limited[] => {
          const limits = definitions.serviceOf(one)?.controlGroup;
          return identity === null || limits === undefined ? [] : [{ id, pid: identity.pid, limits }];
        }),
      );
    },
    warnings() {
      const trouble = groups.trouble();
      return trouble === null ? [] : [(text) => text.warnings.limits(text.preflight.limits.unfit(trouble))];
    },
  };
}
