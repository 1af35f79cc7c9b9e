// Where an upgrade makes the new cluster, and where it leaves the former one. Invariant: what a killed upgrade left is
// removed before any server of this place starts, its own server stopped first.

import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../config/time.ts";
import { findPostmaster, stopPostmaster } from "../postmaster.ts";

/** In the place of a managed server: the base of the new one. */
export const attemptIn = (dir: string): string => join(dir, "upgrade");

/** Among the copies: it goes when a later update has proven itself. */
export const formerIn = (dir: string): string => join(dir, "copies", "former-postgres", "data");

export async function clearAttempt(dir: string, clock: Clock): Promise<void> {
  const attempt = attemptIn(dir);
  if ((await stat(attempt).catch(() => null)) === null) return;
  const data = join(attempt, "data");
  const server = await findPostmaster(data);
  if (server !== null) await stopPostmaster(data, server, clock);
  await rm(attempt, { recursive: true, force: true, maxRetries: 5 });
}
