// Loaded before a web or worker of a chaos run, which knows nothing of it: on SIGUSR2 it does what the file beside its
// socket tells, so that a process can be hurt from within. The file is taken away when it begins.

import { readFileSync, rmSync } from "node:fs";
import { orderFile } from "./orders.ts";

const MIB = 2 ** 20;
const PIECE_MIB = 16;

/** `busyMs`: the event loop is blocked so long by true work. `eatMiB`: so much memory is taken and kept. */
export interface Order {
  readonly busyMs?: number;
  readonly eatMiB?: number;
}

const eaten: Buffer[] = [];

const file = orderFile(process.env.OWL_SOCKET ?? "");

process.on("SIGUSR2", () => {
  const { busyMs = 0, eatMiB = 0 } = take();
  const end = performance.now() + busyMs;
  while (performance.now() < end);
  eat(eatMiB);
});

function take(): Order {
  try {
    const order = JSON.parse(readFileSync(file, "utf8")) as Order;
    rmSync(file);
    return order;
  } catch {
    // Whoever gave it has given up waiting.
    return {};
  }
}

/** Piece by piece, so that the loop goes on; written to, so that the kernel really gives it. */
function eat(leftMiB: number): void {
  if (leftMiB <= 0) return;
  eaten.push(Buffer.alloc(PIECE_MIB * MIB, 1));
  setImmediate(eat, leftMiB - PIECE_MIB);
}
