// After an installation: waits until everything serves, saying what has come up so far.
// Invariant: bounded; that it takes longer is told with the way to look, and is no success.

import type { Status } from "../../config/control-api.ts";
import type { Clock } from "../../config/time.ts";

/** A first start creates a database. */
const WAIT_MS = 300_000;
const LOOK_MS = 500;

interface WaitParts {
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  /** null: owld does not answer yet. */
  readonly status: () => Promise<Status | null>;
  readonly say: (line: string) => void;
  readonly words: (services: string | null) => string;
}

/** The last status: of an owld that is steady, or of one that was not within the bound. */
export async function waitReady({ clock, status, say, words }: WaitParts): Promise<Status | null> {
  const untilMs = clock.monotonicMs() + WAIT_MS;
  let said = "";
  for (;;) {
    const now = await status();
    if (now?.state === "steady") return now;
    const services = now?.services.map(({ name, ready, replicas }) => `${name} ${ready}/${replicas}`).join(", ");
    const line = words(services ?? null);
    if (line !== said) say(line);
    said = line;
    if (clock.monotonicMs() >= untilMs) return now;
    await clock.sleep(LOOK_MS);
  }
}
