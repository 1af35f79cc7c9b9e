// Idle connections per upstream, for GET, HEAD and OPTIONS only; last in, first out.
// Invariant: what is in here carries no request, is not paused, has no unread bytes, and goes when its upstream leaves.

import type { Clock } from "../../../config/time.ts";
import { connectUpstream } from "../connect.ts";
import type { ConnectFailure } from "../core/retry-table.ts";
import { UPSTREAM_IDLE_MS, UPSTREAM_MOST_IDLE } from "../limits.ts";
import type { Upstream } from "../upstreams.ts";
import { UpstreamConnection } from "./upstream-connection.ts";

/** Closed this long before the upstream said it would close. */
const IDLE_MARGIN_MS = 1_000;

export interface ConnectionWaiter {
  opened(connection: UpstreamConnection): void;
  connectFailed(failure: ConnectFailure, detail: string): void;
}

export class UpstreamPool {
  readonly #clock: Clock;
  readonly #connectTimeoutMs: number;
  readonly #idle = new Map<Upstream, UpstreamConnection[]>();

  constructor(clock: Clock, connectTimeoutMs: number) {
    this.#clock = clock;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** An idle connection, or null. */
  take(upstream: Upstream): UpstreamConnection | null {
    const list = this.#idle.get(upstream);
    if (list === undefined) return null;
    for (let connection = list.pop(); connection !== undefined; connection = list.pop()) {
      if (connection.isAlive) return connection;
      connection.destroy();
    }
    return null;
  }

  /** Opens a fresh one; returns how to give up. */
  open(upstream: Upstream, waiter: ConnectionWaiter): () => void {
    const connection = new UpstreamConnection(upstream);
    return connectUpstream(
      upstream,
      this.#connectTimeoutMs,
      this.#clock,
      {
        connected: (socket) => {
          connection.opened(socket);
          waiter.opened(connection);
        },
        failed: (failure, detail) => waiter.connectFailed(failure, detail),
      },
      connection.onread,
    );
  }

  /** A connection whose answer is over. `now`: coarse monotonic ms. */
  give(connection: UpstreamConnection, now: number): void {
    const { upstream } = connection;
    let list = this.#idle.get(upstream);
    if (!upstream.routable || !connection.isAlive || (list !== undefined && list.length >= UPSTREAM_MOST_IDLE)) {
      connection.destroy();
      return;
    }
    if (list === undefined) {
      list = [];
      this.#idle.set(upstream, list);
    }
    const granted = connection.idleS === null ? UPSTREAM_IDLE_MS : connection.idleS * 1_000 - IDLE_MARGIN_MS;
    if (granted <= 0) {
      connection.destroy();
      return;
    }
    connection.idleUntilMs = now + Math.min(UPSTREAM_IDLE_MS, granted);
    connection.onIdleEnd = () => {
      const at = list.indexOf(connection);
      if (at >= 0) list.splice(at, 1);
    };
    list.push(connection);
  }

  /** Closes what was idle for too long. */
  sweep(now: number): void {
    for (const list of this.#idle.values()) {
      while (list[0] !== undefined && list[0].idleUntilMs <= now) list.shift()?.destroy();
    }
  }

  drop(upstream: Upstream): void {
    for (const connection of this.#idle.get(upstream) ?? []) connection.destroy();
    this.#idle.delete(upstream);
  }

  stop(): void {
    for (const upstream of [...this.#idle.keys()]) this.drop(upstream);
  }

  /** Idle connections in all (tests look at it). */
  get size(): number {
    let sum = 0;
    for (const list of this.#idle.values()) sum += list.length;
    return sum;
  }
}
