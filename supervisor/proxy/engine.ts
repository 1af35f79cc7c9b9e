// What a forwarding engine is: it takes accepted client connections and carries requests to upstreams.
// One exists, in engine-net/; the tests hold it against a slow one of node:http (test/support/proxy/reference-engine).

import type { Socket } from "node:net";
import type { ProxyConfig } from "../../config/config.ts";
import type { Clock, Random } from "../../config/time.ts";
import type { RequestScan } from "./core/request-head.ts";
import type { Counters } from "./counters.ts";
import type { DispatchDeps } from "./dispatch.ts";
import type { Log } from "./log.ts";
import type { Upstream, Upstreams } from "./upstreams.ts";

export interface Engine {
  /**
   * Takes over a connection that was just accepted (TLS already done when `scheme` is https). Returns the socket it
   * lives on from now, which may be another one.
   */
  serve(socket: Socket, scheme: "http" | "https"): Socket;
  /** Closes every idle connection to `upstream` at once; busy ones when their answer is over. */
  dropIdle(upstream: Upstream): void;
  /** From now on answers say `Connection: close`, and idle client connections are closed. */
  drain(): void;
  /** Client connections open. */
  connections(): number;
  /** Destroys what is left. */
  stop(): void;
}

export interface AccessEntry {
  readonly requestId: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly client: string;
  /** 0: the client left before an answer. */
  readonly status: number;
  readonly service: string | null;
  readonly upstream: string | null;
  readonly retries: number;
  readonly elapsedMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface EngineDeps {
  readonly config: ProxyConfig;
  readonly upstreams: Upstreams;
  readonly counters: Counters;
  readonly dispatch: DispatchDeps;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Client connections this process may hold; each further stream of one counts like one more. */
  readonly mostConnections: number;
  readonly isTrusted: (address: string) => boolean;
  /** Strict-Transport-Security of answers over TLS; null: none. */
  readonly hsts: string | null;
  /** The `traceparent` line of a request, or nothing. */
  readonly traceLine: (scan: RequestScan, requestId: string) => string;
  /** null: no access log. */
  readonly access: ((entry: AccessEntry) => void) | null;
}
