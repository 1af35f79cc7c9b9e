// What web does on a timer, each process alike: closes turns nobody claimed in time. (What one of them forgets for all:
// retention.ts.) Invariant: a turn is closed by one guarded UPDATE together with its job's removal, so a claim at the
// last moment either wins whole or loses whole.

import type { Logger } from "pino";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import type { Database } from "../db/pool.ts";
import { endQueuedTurn, findUnclaimedTurns } from "../db/turns.ts";
import type { Text } from "../text/text.ts";

interface Sweeper extends Running {
  /** Closes the turns past their claim limit; answers how many. */
  closeUnclaimed(): Promise<number>;
}

const EVERY_MS = 1_000;
const AT_ONCE = 100;

export function createSweeper(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly text: Text;
}): Sweeper {
  const { db, clock, log } = deps;

  async function closeUnclaimed(): Promise<number> {
    let count = 0;
    for (const { id, begun } of await findUnclaimedTurns(db, AT_ONCE)) {
      // One that was begun was cut off: nobody came to go on with it.
      const cause = begun ? "cut" : "unclaimed";
      if (!(await endQueuedTurn(db, id, { state: "failed", cause, message: deps.text(`turn.${cause}`) }))) continue;
      count += 1;
      log.warn({ job: id }, "turn closed: no worker claimed it in time");
    }
    return count;
  }

  const loop = createLoop({
    clock,
    everyMs: EVERY_MS,
    runOnce: async () => void (await closeUnclaimed()),
    failed: (err) => log.warn({ err }, "sweep failed; it is repeated"),
  });
  return { ...loop, closeUnclaimed };
}
