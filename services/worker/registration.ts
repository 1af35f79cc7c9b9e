// Registering under an id that an earlier process may have left behind: its jobs are reclaimed first, never inherited.

import type { Logger } from "pino";
import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import type { Reclaimer } from "../db/reclaimer.ts";

/** Tries `insert` until it takes, reclaiming in between. Throws `worker.registered` when another process lives under the id. */
export async function register(
  deps: { readonly reclaimer: Reclaimer; readonly clock: Clock; readonly log: Logger },
  insert: () => Promise<boolean>,
): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    if (await insert()) return;
    deps.log.warn({ tries }, "an earlier worker of this id is not settled yet");
    await deps.reclaimer.runOnce();
    await deps.clock.sleep(200);
  }
  throw failure("worker.registered");
}
