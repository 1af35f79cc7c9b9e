// What one account may have at once (`limits` of owl.yaml), and how it is told that it has it.
// Invariants: what entered a gate leaves it, once; what is stored is held to its limits in the transaction that adds it.

import type { AccountLimits, AppConfig } from "../../config/config.ts";
import type { OwlError } from "../../config/errors.ts";
import { failure } from "../core/wire/errors.ts";
import type { Sql } from "../db/pool.ts";
import { readSpending } from "../db/spending.ts";
import { type HeldKind, lockUsage, readUsage } from "../db/usage.ts";

type LimitKind = Exclude<keyof AccountLimits, "statements" | "statementsPerMinute">;

/** `limit.turns` and so on: 413 for bytes, else 429. */
export function limitReached(kind: LimitKind, limit: number): OwlError {
  return failure(`limit.${kind}`, { limit }, { data: { limit, retryAfterS: 5 } });
}

/**
 * After `sql`, a transaction, added to what the account holds: throws `limit.…` where that is now more than it may, and
 * the transaction undoes it.
 */
export async function holdToLimits(
  sql: Sql,
  accountId: string,
  limits: AccountLimits,
  kinds: readonly HeldKind[],
): Promise<void> {
  await lockUsage(sql, accountId);
  const usage = await readUsage(sql, accountId, kinds);
  for (const kind of kinds) if (usage[kind] > limits[kind]) throw limitReached(kind, limits[kind]);
}

/** Before a question is taken: throws `limit.budget` where the account has spent what it may this month. */
export async function holdToBudget(sql: Sql, accountId: string, { monthly }: AppConfig["budget"]): Promise<void> {
  if (monthly === null) return;
  const { cost } = await readSpending(sql, accountId);
  if (cost >= monthly)
    throw failure("limit.budget", { limit: monthly }, { data: { limit: monthly, retryAfterS: 3600 } });
}

export interface AccountGate {
  /** Takes a place; the answer gives it back. Throws `limit.…` when the account has them all. */
  enter(accountId: string): () => void;
  /** Runs `work` in a place of its own. */
  within<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

/** Places of one kind in this process, `most` for each account. */
export function createAccountGate(kind: LimitKind, most: number): AccountGate {
  const held = new Map<string, number>();
  function enter(accountId: string): () => void {
    const now = held.get(accountId) ?? 0;
    if (now >= most) throw limitReached(kind, most);
    held.set(accountId, now + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const rest = (held.get(accountId) ?? 1) - 1;
      if (rest === 0) held.delete(accountId);
      else held.set(accountId, rest);
    };
  }
  return {
    enter,
    async within(accountId, work) {
      const leave = enter(accountId);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
