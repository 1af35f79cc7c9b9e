// One request's way to an upstream: route, queue, pick, and what THE retry table says after each failed attempt.
// Both engines drive it; it does no I/O of its own. Invariant: exactly one of answered, cut or cancelled ends it.

import type { Clock } from "../../config/time.ts";
import type { AnswerReason } from "./answers.ts";
import { type ConnectFailure, exhausted, mayReuseConnection, type RetryRow, retryRowFor } from "./core/retry-table.ts";
import { cookieLine, keptSide, type Side } from "./core/share.ts";
import type { Counters } from "./counters.ts";
import { countStatus } from "./counters.ts";
import type { Log } from "./log.ts";
import { type LiveRoute, type MovableStream, onTrialIn, type Upstream, type Upstreams } from "./upstreams.ts";

/** What the engine knows of the request when its head is read. Host and path are not asked for once it is a stream. */
export interface RequestFacts {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly requestId: string;
  /** Declared length in bytes; null: chunked, unknown. 0: no body. */
  readonly bodyBytes: number | null;
  /** Its head, as it goes on: asked for only where clients are kept apart. */
  readonly head?: () => string;
}

/** What the engine does when told. */
export interface Attempting {
  /** Sends the request to `upstream`; `mayReuse`: an idle connection will do. */
  attempt(upstream: Upstream, mayReuse: boolean): void;
  /** Gives the proxy's own answer. */
  answer(reason: AnswerReason, retryAfterS?: number): void;
  /** Lets go of an attempt that has no answer yet, and calls `failed`; nothing while it connects. */
  giveUp(detail: string): void;
  /** Closes both sides: part of an answer was sent and no more can come. */
  cut(): void;
}

export interface DispatchDeps {
  readonly upstreams: Upstreams;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
  readonly queueTimeoutMs: number;
  readonly bodyBytes: number;
}

/** What became of an attempt that had been connected. */
interface AttemptFailure {
  readonly stage: "sent" | "answering";
  readonly reused: boolean;
  readonly responseBytes: boolean;
  readonly malformed: boolean;
  readonly detail: string;
}

interface FailedAttempt {
  readonly upstream: string;
  readonly reason: string;
  readonly detail: string;
}

/** Within this owld has told of an end it hears of. */
const NEWS_MS = 300;

export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #facts: RequestFacts;
  readonly #engine: Attempting;
  readonly startedAtMs: number;
  /** Body limit of the route in bytes, once routed. */
  bodyLimit: number;
  /** The upstream under way, or the last one. */
  upstream: Upstream | null = null;
  /** Sends begun, for the access log. */
  attempts = 0;
  /** Header line for the answer that keeps the client on its side; mostly empty. */
  cookieLine = "";

  #route: LiveRoute | null = null;
  #tried: Upstream[] | null = null;
  #failures: ConnectFailure[] | null = null;
  #failed: FailedAttempt[] | null = null;
  #resent = false;
  /** All refused it once already. */
  #hasWaited = false;
  /** Its answer says that the upstream failed. */
  #isError = false;
  #counted = false;
  #over = false;
  #stream: MovableStream | null = null;
  #stopWaiting: (() => void) | null = null;
  #side: { readonly of: string; readonly side: Side } | null = null;

  constructor(deps: DispatchDeps, facts: RequestFacts, engine: Attempting) {
    this.#deps = deps;
    this.#facts = facts;
    this.#engine = engine;
    this.bodyLimit = deps.bodyBytes;
    this.startedAtMs = deps.clock.monotonicMs();
    deps.counters.requests++;
    deps.counters.inFlight++;
  }

  /** Looks for a route and the first upstream. */
  start(): void {
    this.#next();
  }

  /** Connecting to the upstream under way failed: the next one, or the end. */
  connectFailed(failure: ConnectFailure, detail: string): void {
    const upstream = this.#leave();
    if (upstream === null) return;
    this.#deps.upstreams.connectFailed(upstream);
    this.#tried ??= [];
    this.#failures ??= [];
    this.#tried.push(upstream);
    this.#failures.push(failure);
    this.#note(upstream, failure === "timedOut" ? "connectTimedOut" : "connectRefused", detail);
    this.#next();
  }

  /** The connection was made: the upstream is well again. */
  connected(): void {
    if (this.upstream !== null) this.upstream.mark = null;
  }

  /** The connected attempt failed. */
  failed(failure: AttemptFailure): void {
    const { stage, reused, responseBytes, detail } = failure;
    const upstream = this.#leave();
    if (upstream === null) return;
    const { does, reason } = this.#rowFor(upstream, stage, reused, responseBytes);
    this.#note(upstream, reason, detail);
    this.#noteFailure(upstream);
    if (does === "askOld") {
      countStatus(upstream.tally, 502);
      this.#resent = true;
      this.#tried = [...(this.#tried ?? []), ...onTrialIn(this.#route)];
      this.#next();
      return;
    }
    if (does === "resendFresh") {
      this.#resent = true;
      this.#countRetry(upstream, reason);
      this.#send(upstream, false);
      return;
    }
    this.#deps.counters.retryReason(reason);
    this.#tellFailed("refused", reason);
    // Without an answer of its own it is judged by the one the client gets in its stead; so is one it broke off.
    if (stage === "sent" || (does === "cut" && this.#stream === null)) countStatus(upstream.tally, 502);
    if (does === "cut") {
      if (stage === "answering" && this.#stream === null) upstream.tally.brokenOff++;
      this.#finish(true);
      this.#engine.cut();
    } else {
      this.#answer(failure.malformed ? "badResponse" : "failedAfterSend");
    }
  }

  /** True: an answer with that status is not passed on; it was given up, for an old one may know better. */
  asksOld(status: number): boolean {
    if (status < 500 || this.upstream === null) return false;
    if (this.#rowFor(this.upstream, "sent", false, true).does !== "askOld") return false;
    this.#engine.giveUp(`it answered with ${status}`);
    return true;
  }

  /** A final status arrived, which goes on to the client. */
  status(status: number): void {
    this.#stopWaiting?.();
    if (this.upstream === null) return;
    countStatus(this.upstream.tally, status);
    this.#isError = status >= 500;
    if (this.#isError) this.#noteFailure(this.upstream);
  }

  /** From here on it is an event stream or a tunnel. */
  becameStream(stream: MovableStream): void {
    if (this.#over || this.upstream === null || !this.#counted) return;
    this.#stream = stream;
    this.#counted = false;
    this.#deps.upstreams.becameStream(this.upstream, stream);
  }

  /** The answer is complete. */
  answered(): void {
    if (this.upstream !== null && !this.#isError) this.upstream.standing = "proven";
    this.#finish(true);
  }

  /** The engine answers by itself (a limit was passed while streaming). */
  refused(): void {
    this.#finish(false);
  }

  /** The client is gone. */
  cancel(): void {
    this.#finish(false);
  }

  get over(): boolean {
    return this.#over;
  }

  #next(): void {
    if (this.#over) return;
    const found = this.#deps.upstreams.lookup(this.#facts.host, this.#facts.path);
    if (found.kind === "noRoute") this.#answer("noRoute");
    else if (found.kind === "noTable" || !this.#tryRoute(found.route)) this.#queue();
  }

  /** False: nobody of this route is ready, and nobody was tried. */
  #tryRoute(route: LiveRoute): boolean {
    this.#route = route;
    this.bodyLimit = route.bodyBytes ?? this.#deps.bodyBytes;
    if (route.closed !== null) {
      this.#answer("closed", route.closed.retryAfterS);
      return true;
    }
    if (this.#facts.bodyBytes !== null && this.#facts.bodyBytes > this.bodyLimit) {
      this.#answer("bodyTooLarge");
      return true;
    }
    const upstream = this.#deps.upstreams.pick(route, this.#tried, this.#sideIn(route));
    if (upstream !== null) {
      if (this.#tried !== null) this.#countRetry(upstream, this.#failed?.at(-1)?.reason ?? "connectFailed");
      this.#send(upstream, this.#isRepeatable());
      return true;
    }
    if (this.#failures === null && !this.#resent) return false;
    if (this.#failures !== null && !this.#hasWaited && exhausted(this.#failures) === "allRefused") {
      this.#hasWaited = true;
      this.#awaitTable();
      return true;
    }
    this.#tellFailed("exhausted", "noUpstreamLeft");
    this.#answer(this.#failures === null ? "failedAfterSend" : exhausted(this.#failures));
    return true;
  }

  /** The client's side while a new release gets a part of them. */
  #sideIn({ share }: LiveRoute): Side | null {
    if (share === null) return null;
    const kept = keptSide(this.#facts.head?.() ?? "", share.name);
    if (kept !== null || this.#side?.of === share.name) return kept ?? this.#side?.side ?? null;
    const side = share.deal();
    this.#side = { of: share.name, side };
    this.cookieLine = cookieLine(share.name, side);
    return side;
  }

  /** They may have ended just now, and owld is about to say so: then it waits as whoever comes a moment later does. */
  #awaitTable(): void {
    const { upstreams, clock } = this.#deps;
    const stopListening = upstreams.wait(() => {
      this.#stopWaiting?.();
      this.#tried = null;
      this.#failures = null;
      this.#next();
    });
    const cancelTimer = clock.after(NEWS_MS, () => {
      this.#stopWaiting?.();
      this.#next();
    });
    this.#stopWaiting = () => {
      stopListening();
      cancelTimer();
      this.#stopWaiting = null;
    };
  }

  #queue(): void {
    if (this.#stopWaiting !== null) return;
    const { upstreams, clock, queueTimeoutMs } = this.#deps;
    const stopListening = upstreams.wait(() => {
      const found = upstreams.lookup(this.#facts.host, this.#facts.path);
      const decided =
        found.kind === "noRoute" ||
        (found.kind === "route" &&
          (found.route.closed !== null || found.route.upstreams.length + found.route.fallback.length > 0));
      if (!decided) return;
      this.#stopWaiting?.();
      this.#next();
    });
    const cancelTimer = clock.after(queueTimeoutMs, () => {
      this.#stopWaiting?.();
      this.#answer("noneReady");
    });
    this.#stopWaiting = () => {
      stopListening();
      cancelTimer();
      this.#stopWaiting = null;
    };
  }

  #send(upstream: Upstream, mayReuse: boolean): void {
    this.upstream = upstream;
    this.#counted = true;
    this.attempts++;
    this.#deps.upstreams.begin(upstream);
    if (onTrialIn(this.#route).includes(upstream) && this.#isRepeatable()) this.#watch(upstream);
    this.#engine.attempt(upstream, mayReuse);
  }

  /** Should the change be taken back before it answers (it may never do), an old one is asked at once. */
  #watch(upstream: Upstream): void {
    const stop = this.#deps.upstreams.wait(() => {
      if (!upstream.routable) this.#engine.giveUp("its change was taken back");
    });
    this.#stopWaiting = () => {
      stop();
      this.#stopWaiting = null;
    };
  }

  #noteFailure(upstream: Upstream): void {
    if (onTrialIn(this.#route).includes(upstream)) this.#deps.upstreams.brokeOff(upstream);
  }

  #isRepeatable(): boolean {
    return mayReuseConnection(this.#facts.method) && this.#facts.bodyBytes === 0;
  }

  #rowFor(
    upstream: Upstream,
    stage: "sent" | "answering",
    reusedConnection: boolean,
    responseBytes: boolean,
  ): RetryRow {
    const repeatable = this.#isRepeatable();
    const onTrial = onTrialIn(this.#route).includes(upstream);
    return retryRowFor({ stage, reusedConnection, responseBytes, repeatable, resent: this.#resent, onTrial });
  }

  /** The upstream under way, no longer counted; null when the request is over. */
  #leave(): Upstream | null {
    const { upstream } = this;
    if (this.#over || upstream === null) return null;
    this.#stopWaiting?.();
    if (this.#counted) {
      this.#counted = false;
      this.#deps.upstreams.end(upstream, null);
    }
    return upstream;
  }

  #answer(reason: AnswerReason, retryAfterS?: number): void {
    if (this.#over) return;
    this.#finish(false);
    this.#engine.answer(reason, retryAfterS);
  }

  #finish(answered: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting?.();
    const { counters, upstreams, clock } = this.#deps;
    counters.inFlight--;
    if (this.upstream === null) return;
    if (this.#counted) {
      this.#counted = false;
      upstreams.end(this.upstream, answered ? clock.monotonicMs() - this.startedAtMs : null);
    }
    if (this.#stream !== null) upstreams.streamEnded(this.upstream, this.#stream);
    if (this.#failed !== null && answered) this.#tellFailed("recovered", this.#failed.at(-1)?.reason ?? "");
  }

  #countRetry(upstream: Upstream, reason: string): void {
    upstream.tally.retries++;
    this.#deps.counters.retries++;
    this.#deps.counters.retryReason(reason);
  }

  #note(upstream: Upstream, reason: string, detail: string): void {
    this.#failed ??= [];
    this.#failed.push({ upstream: upstream.id, reason, detail });
  }

  /** Every retry and every refusal to retry can be read back, with its cause. */
  #tellFailed(verdict: "recovered" | "refused" | "exhausted", reason: string): void {
    const failed = this.#failed;
    if (failed === null) return;
    this.#failed = null;
    this.#deps.log.info(
      {
        retries: verdict,
        reason,
        requestId: this.#facts.requestId,
        method: this.#facts.method,
        service: this.#route?.service ?? null,
        upstream: this.upstream?.id ?? null,
        attempts: this.attempts,
        failed,
      },
      "request tried again or refused a retry",
    );
  }
}
