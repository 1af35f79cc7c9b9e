// The living routing table: routes, upstreams, who is in flight where, and the requests that wait for an upstream.
// Invariant: an upstream that left the table gets no new request; `onIdle` tells once when its last one is over.

import { OwlError } from "../../config/errors.ts";
import type { ProxyRoute, ProxyUpstream, RoutingTable, UpstreamCounters } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";
import { pickIndex } from "./core/balance.ts";
import { matchRoute } from "./core/route-match.ts";
import { createDealer, type Side } from "./core/share.ts";
import { isMarked, type Mark, markFailure } from "./core/upstream-marks.ts";
import { countLatency, createUpstreamTally, type UpstreamTally, upstreamCounters } from "./counters.ts";

/** Something long that can be ended on purpose: an event stream or a tunnel. */
export interface MovableStream {
  /** Ends it politely; harmless when it is over already. */
  move(): void;
}

export interface Upstream {
  readonly id: string;
  readonly service: string;
  readonly target: ProxyUpstream["target"];
  routable: boolean;
  /** Requests under way; streams and tunnels are in `streams` instead. */
  inFlight: number;
  mark: Mark | null;
  /** `proven`: it has answered, and did not fail since. A number: so many failed in a row. */
  standing: "proven" | number;
  /** Monotonic ms of its first request. */
  firstAtMs: number | null;
  readonly streams: Set<MovableStream>;
  readonly tally: UpstreamTally;
}

export interface LiveRoute {
  readonly service: string;
  readonly host: string;
  readonly path: string;
  readonly bodyBytes: number | null;
  readonly closed: ProxyRoute["closed"];
  readonly upstreams: readonly Upstream[];
  /** Tried when all of those were. */
  readonly fallback: readonly Upstream[];
  readonly share: LiveShare | null;
  rotation: number;
}

interface LiveShare {
  readonly name: string;
  readonly deal: () => Side;
  readonly sides: Readonly<Record<Side, readonly Upstream[]>>;
}

type RouteLookup =
  | { readonly kind: "route"; readonly route: LiveRoute }
  | { readonly kind: "noTable" }
  | { readonly kind: "noRoute" };

/** After so many failures in a row others are preferred for a while. */
const FAILURES_OF_A_MARK = 2;
/** So long one that has not answered yet, or has only failed, gets one request at a time; then a silent one so many: enough for owld to see its silence. */
const PROVING_MS = 500;
const MOST_UNPROVEN = 16;
/** How many upstreams that have left and are idle are remembered for a reconnecting owld. */
const REMEMBERED_LEAVERS = 500;

export class Upstreams {
  readonly #clock: Clock;
  #version: number | null = null;
  #routes: readonly LiveRoute[] = [];
  readonly #known = new Map<string, Upstream>();
  readonly #leftIdle = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** Called when an upstream left the table: its idle connections are to be closed now. */
  onLeft: (upstream: Upstream) => void = () => {};
  /** Called when a leaving upstream has no request in flight any more. */
  onIdle: (id: string) => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get version(): number | null {
    return this.#version;
  }

  /** Takes a whole table. Older or equal versions are taken too: a restarted owld counts anew. */
  apply(table: RoutingTable): void {
    const routable = new Set<Upstream>();
    const routes = table.routes.map((route) => {
      const live = (entry: ProxyUpstream): Upstream => {
        const upstream = this.#known.get(entry.id) ?? this.#add(entry, route.service);
        routable.add(upstream);
        return upstream;
      };
      const upstreams = route.upstreams.map(live);
      return {
        service: route.service,
        host: route.host,
        path: route.path,
        bodyBytes: route.bodyBytes,
        closed: route.closed,
        share: liveShare(route.share, upstreams),
        rotation: 0,
        upstreams,
        fallback: route.fallback?.map(live) ?? [],
      };
    });
    this.#routes = routes;
    this.#version = table.version;
    for (const upstream of [...this.#known.values()]) {
      if (routable.has(upstream)) {
        upstream.routable = true;
        this.#leftIdle.delete(upstream.id);
      } else if (upstream.routable) {
        upstream.routable = false;
        this.onLeft(upstream);
      }
    }
    for (const wake of [...this.#waiting]) wake();
  }

  /** Tells `onIdle` of every upstream out of the table with nothing in flight; after each table and each reconnect. */
  tellIdle(): void {
    for (const upstream of [...this.#known.values()]) if (!upstream.routable) this.#settle(upstream, false);
    for (const id of this.#leftIdle) this.onIdle(id);
  }

  lookup(host: string, path: string): RouteLookup {
    if (this.#version === null) return { kind: "noTable" };
    const route = matchRoute(this.#routes, host, path);
    return route === null ? { kind: "noRoute" } : { kind: "route", route };
  }

  /** The upstream for the next attempt, not among `tried`, of that side if any of it is left; null when there is none. */
  pick(route: LiveRoute, tried: readonly Upstream[] | null, side: Side | null = null): Upstream | null {
    const own = side === null ? null : (route.share?.sides[side] ?? null);
    const found = (own && this.#pickOf(own, route, tried)) ?? this.#pickOf(route.upstreams, route, tried);
    const mayWait = found === null || (route.fallback.length > 0 && this.#isDoubtful(found));
    return mayWait ? (this.#pickOf(route.fallback, route, tried) ?? found) : found;
  }

  /** What is new proves itself by few requests at a time; after failures it is left alone for a while. */
  #isDoubtful({ mark, standing, inFlight, firstAtMs }: Upstream): boolean {
    const now = this.#clock.monotonicMs();
    if (isMarked(mark, now)) return true;
    if (standing === "proven" || firstAtMs === null) return false;
    const isCold = standing > 0 || now - firstAtMs < PROVING_MS;
    return inFlight >= (isCold ? 1 : MOST_UNPROVEN);
  }

  #pickOf(upstreams: readonly Upstream[], route: LiveRoute, tried: readonly Upstream[] | null): Upstream | null {
    const now = upstreams.length > 1 ? this.#clock.monotonicMs() : 0;
    const index = pickIndex(upstreams, tried, route.rotation, now);
    if (index < 0) return null;
    route.rotation = index + 1 >= upstreams.length ? 0 : index + 1;
    return upstreams[index] ?? null;
  }

  /** Calls `wake` at every table change until the returned function is called. */
  wait(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  begin(upstream: Upstream): void {
    upstream.firstAtMs ??= this.#clock.monotonicMs();
    upstream.inFlight++;
    upstream.tally.requests++;
  }

  /** The attempt at this upstream is over; `elapsedMs` when it was answered. */
  end(upstream: Upstream, elapsedMs: number | null): void {
    upstream.inFlight--;
    if (elapsedMs !== null) countLatency(upstream.tally, elapsedMs);
    if (upstream.inFlight === 0 && !upstream.routable) this.#settle(upstream, true);
  }

  /** The request turned out to be an event stream or tunnel: counted apart from here on, until `streamEnded`. */
  becameStream(upstream: Upstream, stream: MovableStream): void {
    upstream.streams.add(stream);
    this.end(upstream, null);
  }

  streamEnded(upstream: Upstream, stream: MovableStream): void {
    upstream.streams.delete(stream);
    if (!upstream.routable) this.#settle(upstream, false);
  }

  connectFailed(upstream: Upstream): void {
    upstream.tally.connectFailures++;
    upstream.mark = markFailure(upstream.mark, this.#clock.monotonicMs());
  }

  /** An attempt failed that had been connected. */
  brokeOff(upstream: Upstream): void {
    const failures = upstream.standing === "proven" ? 1 : upstream.standing + 1;
    upstream.standing = failures;
    if (failures % FAILURES_OF_A_MARK === 0) upstream.mark = markFailure(upstream.mark, this.#clock.monotonicMs());
  }

  find(id: string): Upstream | null {
    return this.#known.get(id) ?? null;
  }

  all(): Iterable<Upstream> {
    return this.#known.values();
  }

  counters(): UpstreamCounters[] {
    return [...this.#known.values()].map((upstream) =>
      upstreamCounters(upstream.id, upstream.tally, upstream.inFlight, upstream.streams.size),
    );
  }

  #add(entry: ProxyUpstream, service: string): Upstream {
    if (entry.id === "") throw new OwlError("proxy.badTable", "An upstream of the routing table has no id.");
    const upstream: Upstream = {
      id: entry.id,
      service,
      target: entry.target,
      routable: true,
      inFlight: 0,
      mark: null,
      standing: 0,
      firstAtMs: null,
      streams: new Set(),
      tally: createUpstreamTally(),
    };
    this.#known.set(entry.id, upstream);
    return upstream;
  }

  #settle(upstream: Upstream, tell: boolean): void {
    if (upstream.inFlight > 0) return;
    this.#leftIdle.add(upstream.id);
    if (this.#leftIdle.size > REMEMBERED_LEAVERS) {
      for (const oldest of this.#leftIdle) {
        this.#leftIdle.delete(oldest);
        break;
      }
    }
    if (upstream.streams.size === 0) this.#known.delete(upstream.id);
    if (tell) this.onIdle(upstream.id);
  }
}

/** Upstreams of a change that has not stood, where old ones are there to answer in their stead. */
export function onTrialIn(route: LiveRoute | null): readonly Upstream[] {
  if (route === null) return [];
  return route.fallback.length > 0 ? route.upstreams : (route.share?.sides.new ?? []);
}

function liveShare(share: ProxyRoute["share"], upstreams: readonly Upstream[]): LiveShare | null {
  if (share === undefined) return null;
  const { name, part } = share;
  const isNew = ({ id }: Upstream): boolean => share.upstreams.includes(id);
  const sides = { new: upstreams.filter(isNew), old: upstreams.filter((one) => !isNew(one)) };
  return { name, deal: createDealer(part), sides };
}
