// Claims whose COMMIT broke off: the row may be ours without anybody running it, and no reclaimer looks at the rows of a
// living worker. Nothing of such a job has run, so the row goes back in line untouched.
// Invariant: a claim is forgotten only when it was handed back, or so late that the server cannot commit it any more.

import type { Clock, MonotonicMs } from "../../config/time.ts";
import { type Claim, checkClaims } from "../db/claims.ts";
import type { Sql } from "../db/pool.ts";

export interface UnsureClaims {
  note(claim: Claim): void;
  /** Looks which of them became ours and hands those back. Repeatable; throws while the database is away. */
  settle(): Promise<void>;
}

/** A server that was frozen in the COMMIT may still do it: longer than its statement timeout. */
const LATE_MS = 60_000;

export function createUnsureClaims(deps: {
  readonly db: Sql;
  readonly clock: Clock;
  readonly handBack: (claim: Claim) => Promise<void>;
}): UnsureClaims {
  const { db, clock, handBack } = deps;
  const unsure = new Map<Claim, MonotonicMs>();
  return {
    note(claim) {
      unsure.set(claim, clock.monotonicMs() + LATE_MS);
    },
    async settle() {
      if (unsure.size === 0) return;
      const { lost } = await checkClaims(db, [...unsure.keys()]);
      const now = clock.monotonicMs();
      for (const [claim, forgetAt] of [...unsure]) {
        if (!lost.includes(claim)) await handBack(claim);
        else if (now < forgetAt) continue;
        unsure.delete(claim);
      }
    },
  };
}
