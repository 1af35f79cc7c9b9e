// The worker's look at its own rows: what runs here and is no longer ours, what was asked to stop, and what is ours by the
// database's word although nobody runs it. No reclaimer looks at the rows of a living worker, so this is who does.
// Invariants: a row never begun here (a claim whose COMMIT broke off, or came when a drain had begun) goes back in line
// untouched; one that was begun and left unended ends by its kind's rule; one that runs here, or may this moment be
// claimed, is left alone.

import type { JobKind } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { AbortCause } from "../core/abort.ts";
import type { Claim } from "../db/claims.ts";
import { listRowsOf, type RunningRow, returnRow, type SettleDeps, settleRow } from "../db/running-rows.ts";
import type { RunningJob } from "./running-job.ts";

interface OwnRows {
  /** The job's run is over and it did not end its row: that may be another one's by now, or still be ours. */
  leave(claim: Claim): void;
  /** One look. Repeatable; throws when something could not be settled, or the database is away. */
  runOnce(): Promise<void>;
}

const keyOf = ({ kind, id, attempt }: Pick<RunningRow, "kind" | "id" | "attempt">) => `${kind}:${id}:${attempt}`;

export function createOwnRows(
  deps: SettleDeps & {
    readonly id: string;
    readonly running: ReadonlyMap<string, Pick<RunningJob, "claim">>;
    /** Of this kind something may this moment be claimed. */
    readonly isClaiming: (kind: JobKind) => boolean;
    readonly abort: (id: string, cause: AbortCause) => void;
    /** How many went back untouched (for the worker's counts). */
    readonly onReturned: () => void;
  },
): OwnRows {
  const { db, id, running, isClaiming } = deps;
  const left = new Set<string>();

  const isHeld = (row: RunningRow) => isClaiming(row.kind) || running.get(row.id)?.claim.attempt === row.attempt;

  async function settle(row: RunningRow): Promise<void> {
    if (left.has(keyOf(row))) await settleRow(deps, row);
    else if (await returnRow(deps, row)) deps.onReturned();
  }

  return {
    leave(claim) {
      left.add(keyOf(claim));
    },
    async runOnce() {
      const asked = [...running.values()].map(({ claim }) => claim);
      const leftBefore = [...left];
      const rows = new Map((await listRowsOf(db, id)).map((row) => [keyOf(row), row]));
      for (const claim of asked) {
        const row = rows.get(keyOf(claim));
        if (row === undefined) deps.abort(claim.id, "lostClaim");
        else if (row.stopRequested) deps.abort(claim.id, "stopped");
      }
      for (const key of leftBefore) if (!rows.has(key)) left.delete(key);
      const failed: Error[] = [];
      for (const row of rows.values()) {
        if (!isHeld(row)) await settle(row).catch((error: unknown) => failed.push(asError(error)));
      }
      if (failed.length > 0) throw new AggregateError(failed, "rows that nobody runs could not be settled yet");
    },
  };
}
