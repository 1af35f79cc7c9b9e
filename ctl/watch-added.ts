// Services that a change has added: watched until they stand, for nobody's place is taken by them and no rollout waits.

import type { Changed, Status } from "../config/control-api.ts";
import { OwlError } from "../config/errors.ts";
import type { CommandDeps } from "./deps.ts";
import { ROUTES } from "./routes.ts";

const LOOK_MS = 250;
/** One that waits for ever for another, say, is not waited for. */
const MOST_MS = 600_000;

/** Resolves when all of them were ready for their time without a break. Throws `service.notReady` when one is not. */
export async function watchAdded({ names, standMs }: NonNullable<Changed["added"]>, deps: CommandDeps): Promise<void> {
  const { terminal, clock, signal, text } = deps;
  const named = names.join(", ");
  const untilMs = clock.monotonicMs() + MOST_MS;
  terminal.err(text.change.waiting(named));
  for (let sinceMs: number | null = null; sinceMs === null || clock.monotonicMs() - sinceMs < standMs; ) {
    const { services } = await deps.client().get<Status>(ROUTES.status);
    const added = services.filter(({ name, wanted }) => names.includes(name) && wanted === "up");
    const missing = added.find(({ ready, replicas }) => ready < replicas);
    const crashed = added.find(({ instances }) => instances.some(({ state }) => state === "backoff"));
    const failed = crashed ?? (clock.monotonicMs() < untilMs ? undefined : missing);
    if (failed !== undefined)
      throw new OwlError("service.notReady", text.change.notReady(failed.name), { next: `owlctl why ${failed.name}` });
    if (missing !== undefined) sinceMs = null;
    else sinceMs ??= clock.monotonicMs();
    await clock.sleep(LOOK_MS, signal);
  }
}
