// What the parts of the engine may know of each other: an exchange of its client, the engine of both. Types only, so
// that none of them has to import the others whole.

import type { Socket } from "node:net";
import type { AnswerReason } from "../answers.ts";
import type { Compress } from "../compression.ts";
import type { ClientFacts, ForwardingMemo } from "../core/forwarding.ts";
import type { Dispatch } from "../dispatch.ts";
import type { EngineDeps } from "../engine.ts";
import type { TunnelEnd } from "../tunnel.ts";
import type { MessageParser } from "./llhttp.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

/** The client's connection, as its present exchange sees it. */
export interface Client {
  readonly socket: Socket;
  readonly facts: ClientFacts;
  readonly forwarding: ForwardingMemo;
  /** Strict-Transport-Security line of every answer over TLS, or nothing. */
  readonly hstsLine: string;
  readonly parser: MessageParser;
  minor: number;
  keepAlive: boolean;
  bodyMayFlow(exchange: object): void;
  connectionLine(): string;
  write(text: string): void;
  ownAnswer(reason: AnswerReason, exchange: { readonly requestId: string } | null, retryAfterS?: number): number;
  answered(bodyOpen: boolean): void;
  stalledSince(stalled: boolean): void;
  becomeTunnel(): TunnelEnd;
  destroy(): void;
}

/** A connection as the engine keeps it. */
export interface ServedConnection {
  checkDeadline(now: number): void;
  drain(): void;
}

/** An exchange as the access log sees it. */
export interface RecordedExchange {
  readonly requestId: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly status: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly dispatch: Dispatch;
}

export interface NetEngineDeps extends EngineDeps {
  readonly pool: UpstreamPool;
  /** null: answers go on as they came. */
  readonly compress: Compress | null;
  /** Coarse monotonic ms, late by at most a sweep. */
  readonly nowMs: () => number;
  readonly newRequestId: () => string;
  readonly isDraining: () => boolean;
  /** A connection is over, or no longer ours. */
  readonly left: (connection: ServedConnection) => void;
  /** Writes the access log, if there is one. */
  readonly record: (exchange: RecordedExchange, client: Pick<Client, "facts">) => void;
}
