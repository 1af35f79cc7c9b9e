// The real clock and the real chance: the only place outside tests that touches timers, Date and random.

import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock, Random } from "./time.ts";

async function* every(ms: number, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    try {
      await delay(ms, undefined, { signal });
    } catch {
      return;
    }
    yield;
  }
}

/** The machine's clock. `monotonicMs` is CLOCK_MONOTONIC: equal in every process of one boot. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
  after(ms, run, options) {
    const timer = setTimeout(run, ms);
    if (options?.unref) timer.unref();
    return () => clearTimeout(timer);
  },
  every,
};

/** The machine's chance, cryptographic throughout. */
export const systemRandom: Random = {
  float: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  uuid: () => randomUUID(),
  token: (bytes) => randomBytes(bytes).toString("base64url"),
};
