// Connections to upstreams: those being made, and the idle ones, for GET, HEAD and OPTIONS only; last in, first out.
// Invariant: an idle one carries no request, is not paused, has no unread bytes, and goes when its upstream leaves.

import type { Clock } from "../../../config/time.ts";
import { UPSTREAM_IDLE_MS, UPSTREAM_MOST_IDLE } from "../limits.ts";
import type { Upstream } from "../upstreams.ts";
import { type ConnectionWaiter, UpstreamConnection } from "./upstream-connection.ts";

/** Closed this long before the upstream said it would close. */
const IDLE_MARGIN_MS = 1_000;

export class UpstreamPool {
  readonly #clock: Clock;
  readonly #connectTimeoutMs: number;
  readonly #idle = new Map<Upstream, UpstreamConnection[]>();
  /** In the order they began, which is that of their deadlines. One timer serves them all. */
  readonly #connecting = new Set<UpstreamConnection>();
  #cancelTimer: (() => void) | null = null;
  readonly #settled = (connection: UpstreamConnection): void => {
    this.#connecting.delete(connection);
  };

  constructor(clock: Clock, connectTimeoutMs: number) {
    this.#clock = clock;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** An idle connection, or null. */
  take(upstream: Upstream): UpstreamConnection | null {
    const list = this.#idle.get(upstream);
    if (list === undefined) return null;
    for (let connection = list.pop(); connection !== undefined; connection = list.pop()) {
      connection.idleIn = null;
      if (connection.isAlive) return connection;
      connection.destroy();
    }
    return null;
  }

  /** Opens a fresh one within the limit; `destroy` gives it up. */
  open(upstream: Upstream, waiter: ConnectionWaiter): UpstreamConnection {
    const connection = new UpstreamConnection(upstream, waiter, this.#settled);
    connection.untilMs = this.#clock.monotonicMs() + this.#connectTimeoutMs;
    this.#connecting.add(connection);
    this.#cancelTimer ??= this.#clock.after(this.#connectTimeoutMs, this.#due);
    return connection;
  }

  /** After a busy moment of ours the timer comes before connections that have long been made: look once more first. */
  readonly #due = (): void => {
    setImmediate(() => {
      this.#cancelTimer = null;
      const now = this.#clock.monotonicMs();
      for (const connection of this.#connecting) {
        if (connection.untilMs > now) {
          this.#cancelTimer ??= this.#clock.after(connection.untilMs - now, this.#due);
          return;
        }
        connection.timedOut(this.#connectTimeoutMs);
      }
    });
  };

  /** A connection whose answer is over. `now`: coarse monotonic ms. */
  give(connection: UpstreamConnection, now: number): void {
    const { upstream } = connection;
    let list = this.#idle.get(upstream);
    if (!upstream.routable || !connection.isAlive || (list !== undefined && list.length >= UPSTREAM_MOST_IDLE)) {
      connection.destroy();
      return;
    }
    const granted = connection.idleS === null ? UPSTREAM_IDLE_MS : connection.idleS * 1_000 - IDLE_MARGIN_MS;
    if (granted <= 0) {
      connection.destroy();
      return;
    }
    if (list === undefined) {
      list = [];
      this.#idle.set(upstream, list);
    }
    connection.untilMs = now + Math.min(UPSTREAM_IDLE_MS, granted);
    connection.idleIn = list;
    list.push(connection);
  }

  /** Closes what was idle for too long. */
  sweep(now: number): void {
    for (const list of this.#idle.values()) {
      while (list[0] !== undefined && list[0].untilMs <= now) list[0].destroy();
    }
  }

  drop(upstream: Upstream): void {
    const list = this.#idle.get(upstream) ?? [];
    this.#idle.delete(upstream);
    for (const connection of [...list]) connection.destroy();
  }

  stop(): void {
    this.#cancelTimer?.();
    for (const connection of this.#connecting) connection.destroy();
    for (const upstream of [...this.#idle.keys()]) this.drop(upstream);
  }

  /** Idle connections in all (tests look at it). */
  get size(): number {
    let sum = 0;
    for (const list of this.#idle.values()) sum += list.length;
    return sum;
  }
}
