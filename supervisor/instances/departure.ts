// How an instance goes: out of the table, idle, SIGTERM, its whole grace, SIGKILL to the group.
// Invariants: the signal is sent only after every proxy acknowledged the removal; each step is written before it is
// taken; the grace is never shortened here, only a person's kill is.

import type { Logger } from "pino";
import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { type Instance, isDue, isLiving } from "../core/instance.ts";
import type { Milestone } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import type { ProcessTable, ProxySet } from "../ports.ts";
import type { Store } from "../state/store.ts";
import type { InstanceBook } from "./book.ts";
import type { Program } from "./program.ts";
import type { Routing } from "./routing.ts";

/** A group that is to die is sent SIGKILL again after so long. */
export const KILL_AGAIN_MS = 1_000;

interface DepartureParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<Store, "atomically">;
  readonly book: InstanceBook;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly table: ProcessTable;
  readonly proxies: Pick<ProxySet, "idle" | "moveStreams">;
  readonly routing: Routing;
  readonly programOf: (service: string) => Program;
  /** How long an instance may take to be idle, once out of the table. */
  readonly idleTimeoutMs: () => number;
  readonly milestone: (instance: Instance, event: Milestone, elapsedMs: number, message?: string) => void;
}

interface Departure {
  leave(id: string, cause: string): void;
  /** Takes the next step of one that is on its way out, when it is due. */
  advance(instance: Instance, isWatched: boolean): void;
  /** SIGKILL to the group, now. */
  kill(id: string, cause: string): void;
  killGroup(instance: Instance): "sent" | "gone";
  /** It is gone: nothing is waited for any more. */
  forget(id: string): void;
  stop(): void;
}

export function createDeparture(parts: DepartureParts): Departure {
  const { clock, book, table, programOf } = parts;
  const { recorded } = parts.record;
  const idleWaits = new Map<string, AbortController>();

  function leave(id: string, cause: string): void {
    const instance = book.get(id);
    if (instance === null || instance.wanted === "down") return;
    parts.store.atomically(() => {
      parts.milestone(instance, "leave", 0);
      book.set(id, {
        wanted: "down",
        leaving: "unrouting",
        aside: false,
        cause: instance.cause ?? cause,
        deadline: null,
        replaceCause: null,
      });
      book.note(instance, "instance.leaving", recorded.instance.leaving(id, cause));
    });
  }

  function advance(instance: Instance, isWatched: boolean): void {
    const { id } = instance;
    // Its process is just being made: it is dealt with once it is there.
    if (instance.identity === null) return;
    if (instance.leaving === "unrouting") {
      if (!programOf(instance.service).isRouted()) {
        signal(instance);
        return;
      }
      if (!parts.routing.isOut(id)) return;
      parts.proxies.moveStreams(id);
      if (instance.readyMs === null || instance.stop.after !== "idle") {
        signal(instance);
        return;
      }
      const atMs = clock.monotonicMs() + parts.idleTimeoutMs();
      book.set(id, { leaving: "idling", deadline: { kind: "idle", atMs } });
      waitUntilIdle(id);
    } else if (instance.leaving === "idling") {
      if (isDue(instance, clock.monotonicMs())) signal(instance);
      else if (!idleWaits.has(id)) waitUntilIdle(id);
    } else if (instance.state === "draining" && isDue(instance, clock.monotonicMs())) {
      kill(id, recorded.cause.grace(instance.stop.graceMs / 1_000));
    } else if (instance.state === "stopping" && isDue(instance, clock.monotonicMs())) {
      // Written but perhaps not sent (owld was killed in between), or survived so far: SIGKILL may come twice.
      book.set(id, { deadline: { kind: "grace", atMs: clock.monotonicMs() + KILL_AGAIN_MS } });
      killGroup(instance);
    } else if (instance.leaving === "signalling" && isWatched) {
      send(instance);
    }
  }

  function waitUntilIdle(id: string): void {
    const end = new AbortController();
    idleWaits.set(id, end);
    parts.proxies
      .idle(id, end.signal)
      .then(() => {
        const instance = book.get(id);
        if (instance?.leaving === "idling") signal(instance);
      })
      .catch((error: unknown) => {
        if (!end.signal.aborted) parts.log.warn({ instance: id, err: asError(error) }, "waiting for idle failed");
      })
      .finally(() => idleWaits.delete(id));
  }

  function signal(instance: Instance): void {
    const now = clock.monotonicMs();
    idleWaits.get(instance.id)?.abort();
    const graceMs = programOf(instance.service).graceMs() ?? instance.stop.graceMs;
    const message = recorded.instance.draining(instance.id, instance.stop.signal, graceMs / 1_000);
    parts.store.atomically(() => {
      const moved = book.move(instance.id, "signalled", message, {
        leaving: "signalling",
        signalledMs: now,
        deadline: { kind: "grace", atMs: now + graceMs },
        stop: { ...instance.stop, graceMs },
        routed: false,
      });
      if (moved.moved) parts.milestone(instance, "draining", 0);
    });
    send(instance);
  }

  function send(instance: Instance): void {
    try {
      programOf(instance.service).signal(instance);
    } catch (error) {
      parts.log.error({ instance: instance.id, err: asError(error) }, "the signal was refused");
    }
    book.set(instance.id, { leaving: "signalled" });
  }

  function kill(id: string, cause: string): void {
    const instance = book.get(id);
    if (instance === null || !isLiving(instance)) return;
    if (instance.identity === null) {
      if (instance.wanted === "up") leave(id, cause);
      return;
    }
    idleWaits.get(id)?.abort();
    book.move(id, "killed", recorded.instance.killing(id, cause), {
      wanted: "down",
      leaving: "signalled",
      wasKilled: true,
      routed: false,
      deadline: { kind: "grace", atMs: clock.monotonicMs() + KILL_AGAIN_MS },
      cause: instance.cause ?? cause,
    });
    killGroup(instance);
  }

  function killGroup(instance: Instance): "sent" | "gone" {
    if (instance.identity === null) return "gone";
    try {
      return table.killGroup(instance.identity);
    } catch (error) {
      parts.log.error({ instance: instance.id, err: asError(error) }, "SIGKILL was refused");
      return "gone";
    }
  }

  return {
    leave,
    advance,
    kill,
    killGroup,
    forget: (id) => idleWaits.get(id)?.abort(),
    stop() {
      for (const wait of idleWaits.values()) wait.abort();
    },
  };
}
