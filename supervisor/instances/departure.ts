// How an instance goes: out of the table, idle, SIGTERM, its whole grace, SIGKILL to the group.
// Invariants: the signal is sent only after every proxy acknowledged the removal; each step is written before it is
// taken; the grace is never shortened here, only a person's kill is.

import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { type Instance, isDue, isLiving } from "../core/instance.ts";
import type { Text } from "../core/text/text.ts";
import type { ProcessTable, ProxySet } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Store } from "../state/store.ts";
import type { InstanceBook } from "./book.ts";
import type { HealthWatch } from "./health.ts";
import type { Milestone } from "./life.ts";
import type { Routing } from "./routing.ts";

/** A group that is to die is sent SIGKILL again after so long. */
const KILL_AGAIN_MS = 1_000;

interface DepartureParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Pick<Store, "atomically">;
  readonly book: InstanceBook;
  readonly journal: Journal;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly table: ProcessTable;
  readonly proxies: Pick<ProxySet, "idle" | "moveStreams">;
  readonly routing: Routing;
  readonly health: HealthWatch;
  readonly config: () => Config;
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
  const { clock, book, journal, table } = parts;
  const { recorded } = parts.record;
  const idleWaits = new Map<string, AbortController>();

  const serviceOf = (name: string): ServiceConfig | null =>
    parts.config().services.find((service) => service.name === name) ?? null;
  const hasRoutes = (instance: Instance): boolean => (serviceOf(instance.service)?.routes.length ?? 0) > 0;

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
      journal.write({
        type: "instance.leaving",
        service: instance.service,
        instance: id,
        message: recorded.instance.leaving(id, cause),
      });
    });
  }

  function advance(instance: Instance, isWatched: boolean): void {
    const { id } = instance;
    // Its process is just being made: it is dealt with once it is there.
    if (instance.identity === null) return;
    if (instance.leaving === "unrouting") {
      if (!hasRoutes(instance)) {
        signal(instance);
        return;
      }
      if (!parts.routing.isOut(id)) return;
      parts.proxies.moveStreams(id);
      if (instance.readyMs === null || instance.stop.after !== "idle") {
        signal(instance);
        return;
      }
      const atMs = clock.monotonicMs() + parts.config().proxy.drainTimeoutMs;
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
    const graceMs = serviceOf(instance.service)?.stop.graceMs ?? instance.stop.graceMs;
    const moved = book.move(instance.id, "signalled", {
      leaving: "signalling",
      signalledMs: now,
      deadline: { kind: "grace", atMs: now + graceMs },
      stop: { ...instance.stop, graceMs },
      routed: false,
    });
    if (moved !== null) send(moved);
  }

  function send(instance: Instance): void {
    if (instance.identity === null) return;
    parts.health.forget(instance.id);
    try {
      table.signalLeader(instance.identity, instance.stop.signal as NodeJS.Signals);
    } catch (error) {
      parts.log.error({ instance: instance.id, err: asError(error) }, "the signal was refused");
    }
    parts.store.atomically(() => {
      book.set(instance.id, { leaving: "signalled" });
      const { signal, graceMs } = instance.stop;
      const message = recorded.instance.draining(instance.id, signal, graceMs / 1_000);
      journal.write({ type: "instance.draining", service: instance.service, instance: instance.id, message });
      parts.milestone(instance, "draining", 0);
    });
  }

  function kill(id: string, cause: string): void {
    const instance = book.get(id);
    if (instance === null || !isLiving(instance)) return;
    if (instance.identity === null) {
      if (instance.wanted === "up") leave(id, cause);
      return;
    }
    idleWaits.get(id)?.abort();
    parts.store.atomically(() => {
      book.set(id, {
        wanted: "down",
        leaving: "signalled",
        wasKilled: true,
        routed: false,
        deadline: { kind: "grace", atMs: clock.monotonicMs() + KILL_AGAIN_MS },
        cause: instance.cause ?? cause,
      });
      book.move(id, "killed");
      const message = recorded.instance.killing(id, cause);
      journal.write({ type: "instance.killing", service: instance.service, instance: id, message });
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
