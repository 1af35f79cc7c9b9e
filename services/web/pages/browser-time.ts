// The browser's clock and chance: the only file of the pages that touches timers, Date and random.
// Invariant: `now` is the server's time, whatever the device's clock says, for it is compared with the server's moments.

import type { Clock, Random } from "../../../config/time.ts";
import { aheadOf } from "./core/server-clock.ts";

let aheadMs = 0;

/** `fetch`, and a look at the server's clock. */
export async function fetchWithClock(path: string, init: RequestInit): Promise<Response> {
  const askedAtMs = Date.now();
  const answer = await fetch(path, init);
  aheadMs = aheadOf(answer.headers.get("date"), askedAtMs, Date.now()) ?? aheadMs;
  return answer;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

async function* every(ms: number, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    try {
      await sleep(ms, signal);
    } catch {
      return;
    }
    yield;
  }
}

/** The tab's clock; monotonic since it was opened. */
export const browserClock: Clock = {
  now: () => Date.now() + aheadMs,
  monotonicMs: () => performance.now(),
  sleep,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every,
};

/** crypto.randomUUID exists on secure origins only; a plain-http intranet has getRandomValues. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const browserRandom: Random = {
  float: () => Math.random(),
  uuid,
  token: (bytes) =>
    btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", ""),
};
