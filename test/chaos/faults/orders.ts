// Orders to a process that has obedient.ts loaded.

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { systemClock } from "../../../config/system-time.ts";
import { isAlive, signalPid } from "../processes.ts";
import type { Order } from "./obedient.ts";

const BEGIN_MS = 10_000;
const LOOK_MS = 20;

/** Where the orders of the instance that listens on `socket` lie. */
export const orderFile = (socket: string) => `${socket}.order`;

/**
 * Tells the process `pid`, which listens on `socket` and is ready: one that just begins would die of the signal. True
 * when it has begun; false: it has gone, or does not listen (frozen, or blocked already).
 */
export async function order(pid: number, socket: string, what: Order): Promise<boolean> {
  const file = orderFile(socket);
  writeFileSync(file, JSON.stringify(what));
  signalPid(pid, "SIGUSR2");
  for (const end = systemClock.now() + BEGIN_MS; systemClock.now() < end; await systemClock.sleep(LOOK_MS)) {
    if (!existsSync(file)) return true;
    if (!isAlive(pid)) break;
  }
  rmSync(file, { force: true });
  return false;
}
