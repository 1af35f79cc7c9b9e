// The feed between owld and a proxy process: JSON lines over the proxy's own Unix socket in the run directory
// (run/proxy-1.sock). owld connects, sends whole versioned tables, the acknowledgement is the version.
// After a reconnect owld sends everything again. The proxy serves on with its last table when owld is gone.
// A proxy is started as `node supervisor/proxy/main.ts` with OWL_PROXY_SETTINGS (JSON of ProxySettings);
// an inherited listening descriptor is named by OWL_PROXY_LISTEN_FDS ("4,,5", in order of `listenAddresses`),
// where one is missing it binds itself. It never reads owl.yaml and never talks to a database.

import type { ListenAddress, ProxyConfig } from "./config.ts";

/** The addresses a proxy process listens on, in the order of its descriptors: `listen`, then the redirect's. */
export function listenAddresses(proxy: ProxyConfig): readonly ListenAddress[] {
  const redirect = proxy.tls?.redirectFrom ?? null;
  return redirect === null ? proxy.listen : [...proxy.listen, redirect];
}

export interface ProxySettings {
  readonly id: string;
  readonly feedSocket: string;
  readonly home: string;
  readonly proxy: ProxyConfig;
}

export interface ProxyUpstream {
  /** Instance id, `web-7`. */
  readonly id: string;
  readonly target: { readonly socket: string } | { readonly host: string; readonly port: number };
}

export interface ProxyRoute {
  readonly service: string;
  readonly host: string;
  readonly path: string;
  readonly bodyBytes: number | null;
  /** Routable now. Those that left the table drain: no new request, in-flight ones finish, idle sockets closed at once. */
  readonly upstreams: readonly ProxyUpstream[];
  /** Set aside and alive: for when none of `upstreams` can be connected to and no owld has noticed yet. Absent: none. */
  readonly fallback?: readonly ProxyUpstream[];
  /** Set: every request of this route gets a 503 page with Retry-After (web is out for a migration). */
  readonly closed: { readonly retryAfterS: number; readonly reason: string } | null;
  /**
   * Set: the proxy serves files, from the first of these directories that has one; there are no upstreams then. `kept`:
   * directories of before, for what no page is.
   */
  readonly files?: {
    readonly directories: readonly string[];
    readonly cacheS: number | null;
    readonly kept?: readonly string[];
  };
  /** Set: these upstreams get that part of the clients alone, the others the rest. Absent: everybody is for all. */
  readonly share?: ProxyShare;
}

interface ProxyShare {
  /** The rollout's id: a client's cookie counts for this one alone. */
  readonly name: string;
  /** 0 to 1. */
  readonly part: number;
  /** Ids of the new ones. */
  readonly upstreams: readonly string[];
}

export interface RoutingTable {
  readonly version: number;
  readonly routes: readonly ProxyRoute[];
  /** While a certificate is being ordered. */
  readonly challenges?: readonly Challenge[];
}

/** How a certificate authority is shown that a name is ours: by a file on the plain port, or by a certificate (with its key). */
export type Challenge =
  | { readonly kind: "http"; readonly token: string; readonly answer: string }
  | { readonly kind: "alpn"; readonly host: string; readonly pem: string };

export type ToProxy =
  | { readonly type: "table"; readonly table: RoutingTable }
  /** Ends every event stream and tunnel of that upstream (spread over min(5 s, streams / 200 per second)). */
  | { readonly type: "moveStreams"; readonly upstream: string }
  /** Ask for one `counters` line now. */
  | { readonly type: "counters" }
  /**
   * Start a successor with those of our listening descriptors it wants (it binds the rest); answered by `successor`
   * when it listens and has our table. `successorFailed`: it is gone, and all is as before.
   */
  | {
      readonly type: "succeed";
      readonly settings: ProxySettings;
      readonly command: readonly string[];
      /** FIFO whose write end becomes the successor's descriptor 3, as for every instance. Listeners follow from 4. */
      readonly exitFifo?: string;
      /** Set: this process serves on beside it; else it stops accepting, drains and exits 0 by itself. */
      readonly stay?: boolean;
    }
  /** Run this beside us, our listening sockets as its descriptors from 4 on, in our order; answered by `kept`. */
  | { readonly type: "keep"; readonly command: readonly string[] }
  /** Stop accepting, finish what is in flight (at most drainTimeout), exit 0. */
  | { readonly type: "drain" };

export type FromProxy =
  | {
      readonly type: "hello";
      readonly id: string;
      readonly pid: number;
      readonly version: number | null;
      /** As bound. */
      readonly listening: readonly string[];
      /** The same as they are configured: a successor is given those that it wants. Absent: an older release. */
      readonly addresses?: readonly string[];
    }
  | { readonly type: "ack"; readonly version: number }
  | { readonly type: "counters"; readonly counters: ProxyCounters }
  /**
   * An upstream that left the table has no request in flight (event streams and tunnels counted apart). Told when it
   * falls to 0, and again after every table for each such upstream (the last 500), so a reconnecting owld misses none.
   */
  | { readonly type: "idle"; readonly upstream: string }
  | { readonly type: "successor"; readonly id: string; readonly pid: number }
  | { readonly type: "successorFailed"; readonly id: string; readonly reason: string }
  | { readonly type: "kept"; readonly pid: number }
  | { readonly type: "draining"; readonly inFlight: number };

export interface UpstreamCounters {
  readonly id: string;
  readonly requests: number;
  readonly responses: Readonly<Record<"1xx" | "2xx" | "3xx" | "4xx" | "5xx", number>>;
  readonly connectFailures: number;
  /** Answers that ended in their middle: each is among `responses` by its status and as a 5xx. Absent from older ones. */
  readonly brokenOff?: number;
  readonly retries: number;
  readonly inFlight: number;
  /** Event streams and tunnels open. */
  readonly streams: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Upper bounds in ms -> cumulative count. */
  readonly latency: Readonly<Record<string, number>>;
}

export interface ProxyCounters {
  readonly requests: number;
  /** Accepted and not yet answered, streams included. */
  readonly inFlight: number;
  readonly retries: number;
  /** Answers 502, 503 and 504 made by the proxy itself. */
  readonly failures: number;
  readonly connections: number;
  readonly streamsMoved: number;
  /** Refusals by reason: `badRequest`, `headerTooLarge`, `connectionCap`, ... */
  readonly refused: Readonly<Record<string, number>>;
  /** Reasons of retries and of refusals to retry. */
  readonly retryReasons: Readonly<Record<string, number>>;
  readonly upstreams: readonly UpstreamCounters[];
}

/** As it stands in a URL. */
export function addressName({ host, port }: ListenAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Where a proxy process listens for the requests of routes with `files`, beside its feed. */
export function filesSocket(feedSocket: string): string {
  return feedSocket.replace(/\.sock$/, ".files");
}
