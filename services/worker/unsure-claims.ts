// Claims whose COMMIT broke off: the row may be ours without anybody running it, and no reclaimer looks at the rows of a
// living worker. Nothing of such a job has run, so the row goes back in line untouched.
// Invariant: a claim is forgotten only when it was handed back, or so late that the server cannot commit it any more; one
// that never was committed may be made again with the same attempt, and what this worker holds is not handed back.

import type { Clock, MonotonicMs } from "../../config/time.ts";
import { type Claim, checkClaims } from "../db/claims.ts";
import type { Sql } from "../db/pool.ts";

interface UnsureClaims {
  note(claim: Claim): void;
  /** Looks which of them became ours and hands those back. Repeatable; throws while the database is away. */
  settle(): Promise<void>;
}

/** A server that was frozen in the COMMIT may still do it: longer than its statement timeout. */
const LATE_MS = 60_000;

export function createUnsureClaims(deps: {
  readonly db: Sql;
  readonly clock: Clock;
  /** Runs here under that very attempt, or may this moment be claimed anew. */
  readonly isHeld: (claim: Claim) => boolean;
  readonly handBack: (claim: Claim) => Promise<void>;
}): UnsureClaims {
  const { db, clock, isHeld, handBack } = deps;
  const unsure = new Map<Claim, MonotonicMs>();
  return {
    note(claim) {
      unsure.set(claim, clock.monotonicMs() + LATE_MS);
    },
    async settle() {
      const asked = [...unsure].filter(([claim]) => !isHeld(claim));
      if (asked.length === 0) return;
      const { lost } = await checkClaims(
        db,
        asked.map(([claim]) => claim),
      );
      const now = clock.monotonicMs();
      for (const [claim, forgetAt] of asked) {
        if (lost.includes(claim)) {
          if (now < forgetAt) continue;
        } else {
          // It may have been claimed anew while we looked.
          if (isHeld(claim)) continue;
          await handBack(claim);
        }
        unsure.delete(claim);
      }
    },
  };
}
