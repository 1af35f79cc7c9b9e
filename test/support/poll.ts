// Waiting in tests for what gives no event of its own.

import { systemClock } from "../../config/system-time.ts";

/** Resolves once `holds` does; fails after about a minute (a loaded machine is slow). */
export async function poll(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 3_000; look++) {
    if (await holds()) return;
    await systemClock.sleep(20);
  }
  throw new Error("It did not come about within a minute.");
}
