// Until when a request's body must go on: its next bytes within the idle time, and all of them as fast as the least rate.
// Measured anew whenever the body may flow again: what the upstream keeps waiting is not the client's slowness.

import type { ProxyLimits } from "../../../config/config.ts";
import { lengthOf } from "./wire.ts";

export class BodyRate {
  readonly #limits: ProxyLimits;
  #sinceMs = 0;
  #bytes = 0;

  constructor(limits: ProxyLimits) {
    this.#limits = limits;
  }

  /** Answers the deadline, as `came` does. */
  begin(nowMs: number): number {
    this.#sinceMs = nowMs;
    this.#bytes = 0;
    return this.#deadlineMs(nowMs);
  }

  came(parts: readonly number[], nowMs: number): number {
    this.#bytes += lengthOf(parts);
    return this.#deadlineMs(nowMs);
  }

  #deadlineMs(nowMs: number): number {
    const { idleTimeoutMs, headerTimeoutMs, bodyBytesPerS } = this.#limits;
    if (!(bodyBytesPerS > 0)) return nowMs + idleTimeoutMs;
    const lastMs = this.#sinceMs + 2 * headerTimeoutMs + (this.#bytes * 1_000) / bodyBytesPerS;
    return Math.min(nowMs + idleTimeoutMs, lastMs);
  }
}
