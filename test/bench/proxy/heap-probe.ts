// Preloaded into a proxy process (`node --expose-gc --import heap-probe.ts main.ts`): on each message from its parent it
// collects garbage and answers what is left.

import { setImmediate as nextTurn } from "node:timers/promises";

const collect = (globalThis as { gc?: () => void }).gc;

process.on("message", async () => {
  // Twice with a turn between: what a finalizer or a closed handle lets go of only then.
  for (let times = 0; times < 2; times++) {
    collect?.();
    await nextTurn();
  }
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  process.send?.({ heapUsed, external, arrayBuffers, rss, handles: process.getActiveResourcesInfo().length });
});
