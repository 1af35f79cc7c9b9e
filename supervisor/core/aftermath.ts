// Whether a change that has stood falls apart shortly after. Pure.
// Invariant: one crash decides nothing, and neither does what somebody ended from outside: only when every place of a
// service has ended by itself since the change is it the change's doing.

import type { LastExit } from "../../config/control-api.ts";
import type { WallMs } from "../../config/time.ts";
import type { Instance } from "./instance.ts";

/** So long after it stood a change is gone back from. */
export const AFTERMATH_MS = 60_000;

/** Signals that come from outside, as a rule. */
const SENT: readonly string[] = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGSTOP"];

type Place = Pick<Instance, "service" | "rollout" | "wanted" | "lastExit">;

/** A service all of whose places, as `rollout` filled them, ended by themselves since; null: there is none. */
export function fellApart(
  rollout: string,
  stoodAt: WallMs,
  instances: readonly Place[],
): { readonly service: string; readonly exit: LastExit } | null {
  const own = instances.filter((one) => one.wanted === "up");
  for (const service of new Set(own.map((one) => one.service))) {
    const places = own.filter((one) => one.service === service);
    if (!places.every((one) => one.rollout === rollout && endedByItself(one.lastExit, stoodAt))) continue;
    const exit = places.at(-1)?.lastExit ?? null;
    if (exit !== null) return { service, exit };
  }
  return null;
}

function endedByItself(exit: LastExit | null, since: WallMs): boolean {
  if (exit === null || !exit.known || Date.parse(exit.at) < since) return false;
  return exit.signal === null || exit.outOfMemory === "likely" || !SENT.includes(exit.signal);
}
