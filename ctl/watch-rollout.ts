// Follows a rollout to its end without owning it: a broken stream means owld went, so we wait for it and go on.
// Invariant: each event reaches the view once, also over reconnections (the server sends them all again).

import type { Rollout, RolloutEnd, RolloutEvent, RolloutLine } from "../config/control-api.ts";
import { OwlError } from "../config/errors.ts";
import type { Clock } from "../config/time.ts";
import type { ControlClient } from "./client.ts";
import { ROUTES } from "./routes.ts";

export interface RolloutView {
  event(event: RolloutEvent): void;
  /** The rollout as it is now (steps, estimate), about once a second. */
  progress(rollout: Rollout): void;
  /** owld went away; it is waited for. */
  gone(): void;
  back(): void;
  close(): void;
}

interface WatchRequest {
  readonly client: ControlClient;
  readonly clock: Clock;
  readonly id: string;
  readonly view: RolloutView;
  /** `serving`: until every new instance is routed; `drained`: until the rollout has ended. */
  readonly until: "serving" | "drained";
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
}

/** A new owld has three starts of 40 s, then the one before it takes over: whoever is away for longer needs somebody. */
const MOST_AWAY_MS = 300_000;

/** Resolves with the rollout at its end (or, until `serving`, as soon as all new instances are routed). */
export async function watchRollout(request: WatchRequest): Promise<Rollout> {
  const { client, clock, id, view, timeoutMs } = request;
  const own = new AbortController();
  const signal = AbortSignal.any([request.signal, own.signal]);
  const cancelTimeout =
    timeoutMs === null
      ? () => {}
      : clock.after(timeoutMs, () =>
          own.abort(
            new OwlError("watch.timeout", `${id} still runs after the time you gave it.`, { data: { rollout: id } }),
          ),
        );
  const polling = poll(request, signal, own);
  let seen = 0;
  try {
    for (;;) {
      let count = 0;
      try {
        for await (const line of client.lines<RolloutLine>(ROUTES.rolloutEvents(id), signal)) {
          if (isEnd(line)) {
            view.progress(line);
            return line;
          }
          count += 1;
          if (count <= seen) continue;
          seen = count;
          view.event(line);
        }
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error;
      }
      throwIfStopped(signal);
      const found = await waitUntilBack(request, signal);
      if (found.state !== "running") return found;
    }
  } catch (error) {
    if (own.signal.aborted && own.signal.reason instanceof Serving) return own.signal.reason.rollout;
    throw signal.aborted ? signal.reason : error;
  } finally {
    cancelTimeout();
    own.abort();
    await polling;
    view.close();
  }
}

/** The reason our own controller is aborted with when `--wait serving` is satisfied. */
class Serving {
  readonly rollout: Rollout;
  constructor(rollout: Rollout) {
    this.rollout = rollout;
  }
}

async function poll(request: WatchRequest, signal: AbortSignal, own: AbortController): Promise<void> {
  const { client, clock, id, view, until } = request;
  const once = async () => {
    const rollout = await client.get<Rollout>(ROUTES.rollout(id)).catch(() => null);
    if (rollout === null || signal.aborted) return;
    view.progress(rollout);
    if (until === "serving" && isServing(rollout)) own.abort(new Serving(rollout));
  };
  await once();
  for await (const _ of clock.every(until === "serving" ? 200 : 1_000, signal)) await once();
}

/** All that brings new instances into service is done; only old ones still drain and stop. */
function isServing(rollout: Rollout): boolean {
  const bringing = rollout.steps.filter((step) => ["start", "ready", "route"].includes(step.action));
  return (
    rollout.state !== "running" ||
    (bringing.length > 0 && bringing.every((step) => ["done", "skipped"].includes(step.state)))
  );
}

async function waitUntilBack(request: WatchRequest, signal: AbortSignal): Promise<Rollout> {
  const { client, clock, id, view } = request;
  let told = false;
  const sinceMs = clock.monotonicMs();
  for (;;) {
    try {
      const rollout = await client.get<Rollout>(ROUTES.rollout(id));
      if (told) view.back();
      return rollout;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!told) view.gone();
      told = true;
      if (clock.monotonicMs() - sinceMs >= MOST_AWAY_MS)
        throw new OwlError("watch.away", `owld has not come back; ${id} goes on once it has.`, {
          data: { rollout: id, minutes: MOST_AWAY_MS / 60_000 },
        });
      await clock.sleep(200, signal);
    }
  }
}

function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw signal.reason;
}

export function isAway(error: unknown): boolean {
  return (
    error instanceof OwlError &&
    ["daemon.gone", "daemon.unreachable", "daemon.silent", "supervisor.stopping"].includes(error.code)
  );
}

function isEnd(line: RolloutLine): line is RolloutEnd {
  return "state" in line && "steps" in line;
}
