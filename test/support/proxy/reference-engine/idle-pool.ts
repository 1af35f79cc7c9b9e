// Idle upstream connections of the reference engine, for GET, HEAD and OPTIONS only.
// Invariant: a socket in here carries no request, and is closed as soon as its upstream leaves the table.

import type { Clock } from "../../../../config/time.ts";
import { UPSTREAM_IDLE_MS, UPSTREAM_MOST_IDLE } from "../../../../supervisor/proxy/limits.ts";
import type { Upstream } from "../../../../supervisor/proxy/upstreams.ts";
import type { UpstreamConnection } from "./upstream-connection.ts";

export interface IdlePool {
  take(upstream: Upstream): UpstreamConnection | null;
  give(upstream: Upstream, connection: UpstreamConnection): void;
  drop(upstream: Upstream): void;
  stop(): void;
}

interface Idle {
  readonly connection: UpstreamConnection;
  readonly forget: () => void;
}

/** An empty pool. */
export function createIdlePool(clock: Clock): IdlePool {
  const pools = new Map<Upstream, Idle[]>();

  function drop(upstream: Upstream): void {
    for (const { connection, forget } of pools.get(upstream) ?? []) {
      forget();
      connection.close();
    }
    pools.delete(upstream);
  }

  return {
    take(upstream) {
      const pool = pools.get(upstream);
      for (let idle = pool?.pop(); idle !== undefined; idle = pool?.pop()) {
        idle.forget();
        const { connection } = idle;
        if (!connection.socket.destroyed && connection.socket.writable) return connection;
        connection.close();
      }
      return null;
    },
    give(upstream, connection) {
      const { socket } = connection;
      let pool = pools.get(upstream);
      if (pool === undefined) {
        pool = [];
        pools.set(upstream, pool);
      }
      if (!upstream.routable || pool.length >= UPSTREAM_MOST_IDLE || socket.destroyed) {
        connection.close();
        return;
      }
      const list = pool;
      const over = () => {
        idle.forget();
        const at = list.indexOf(idle);
        if (at >= 0) list.splice(at, 1);
        connection.close();
      };
      const cancel = clock.after(UPSTREAM_IDLE_MS, over, { unref: true });
      const idle: Idle = {
        connection,
        forget: () => {
          cancel();
          socket.off("end", over).off("close", over).off("error", over).off("data", over);
        },
      };
      socket.on("end", over).on("close", over).on("error", over).on("data", over);
      pool.push(idle);
    },
    drop,
    stop() {
      for (const upstream of [...pools.keys()]) drop(upstream);
    },
  };
}
