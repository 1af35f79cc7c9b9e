// What administrators approved on the page, executed here and nowhere else; and what the page shows of owld.
// Invariant: an approval is begun once: its id is in the state file before its rollout is, so that a restored database
// that still holds it waiting starts nothing again. A wish to cancel needs no such record: its rollout, once ended, never
// runs again.

import type { Logger } from "pino";
import type { Rollout, Status } from "../../config/control-api.ts";
import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { Bulletin, PostedOffer, PostedRollback } from "../ports.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import { keepFact, readFact, type TakenApproval } from "../state/facts.ts";
import type { Store } from "../state/store.ts";

const LOOK_MS = 1_000;
const STATUS_MS = 3_000;
const OFFERS_MS = 10_000;
/** Counting what a restored copy would lose reads the tables it is counted in. */
const ROLLBACKS_MS = 60_000;
/** So many past rollouts are told to the page. */
const PAST = 20;

interface ApprovalParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly bulletin: Bulletin;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly status: () => Promise<Status>;
  readonly offers: () => Promise<readonly PostedOffer[]>;
  readonly rollbacks: () => Promise<readonly PostedRollback[]>;
  readonly rollouts: Pick<RolloutRunner, "get" | "recent" | "last" | "cancel">;
  readonly restart: (services: readonly string[] | null, askedBy: string) => Promise<Rollout>;
  readonly update: (version: string, approval: string, askedBy: string) => Promise<Rollout>;
  readonly rollback: (version: string, approval: string, askedBy: string) => Promise<Rollout>;
}

interface Approvals {
  start(): void;
  /** One look; for tests. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

/** On record together with the update that an approval begins: killed right after it, nobody calls it refused. */
export function noteBegun(store: Store, approval: string, rollout: string, at: number): void {
  keepFact(store, factOf(approval), { rollout, refused: null, at });
}

const factOf = (approval: string) => `approval ${approval}` as const;

export function createApprovals(parts: ApprovalParts): Approvals {
  const { clock, store, bulletin, log } = parts;
  const lifetime = new AbortController();
  let loop: Promise<void> | null = null;
  let nextStatusMs = 0;
  let nextOffersMs = 0;
  let nextRollbacksMs = 0;
  let postedOffers = "";
  /** The newest rollout when the past ones were posted last. */
  let postedRollouts = "";

  async function take(id: string, begin: () => Promise<Rollout>): Promise<TakenApproval> {
    const key = factOf(id);
    const known = readFact(store, key);
    if (known !== null) return known;
    const at = clock.now();
    // Before the rollout: killed in between, an approval is lost rather than executed twice.
    keepFact(store, key, { rollout: null, refused: "owld was stopped before it could begin.", at });
    let taken: TakenApproval;
    try {
      taken = { rollout: (await begin()).id, refused: null, at };
    } catch (caught) {
      const { sentence, next } = wordsOf(caught, parts.record);
      taken = { rollout: null, refused: `${sentence}${next === undefined ? "" : ` ${next}`}`, at };
    }
    keepFact(store, key, taken);
    return taken;
  }

  async function lookAtApproval(): Promise<void> {
    const approval = await bulletin.openApproval();
    if (approval === null) return;
    const { id, kind, version, services, by } = approval;
    // What cannot be put on record is not begun: it waits until the state file can be written again.
    if (store.failing() !== null && readFact(store, factOf(id)) === null) return;
    const taken = await take(id, () => {
      if (kind === "restart") return parts.restart(services, by);
      return parts[kind](version ?? "", id, by);
    });
    if (taken.refused !== null) {
      await bulletin.noteApproval(id, { state: "refused", rollout: null, message: taken.refused });
      return;
    }
    const rollout = taken.rollout === null ? null : parts.rollouts.get(taken.rollout);
    const state = rollout?.state === "cancelled" ? "failed" : (rollout?.state ?? "failed");
    await bulletin.noteApproval(id, { state, rollout, message: rollout?.reason ?? null });
    if (approval.state === "waiting")
      log.info({ approval: id, by: approval.by, rollout: rollout?.id }, "an approval is executed");
  }

  async function lookAtCancel(): Promise<void> {
    const wish = await bulletin.openCancel();
    if (wish === null) return;
    const { id, rollout, by } = wish;
    const state = parts.rollouts.get(rollout)?.state;
    if (state === "running") {
      parts.rollouts.cancel();
      log.info({ rollout, by }, "a rollout is cancelled from the page");
      await bulletin.noteCancel(id, "done", null);
      // Killed before it was noted, the rollout may have ended by it meanwhile.
    } else if (state === "cancelled") await bulletin.noteCancel(id, "done", null);
    else {
      const { nothingToCancel, cancelledTooLate } = parts.record.recorded;
      const why = state === undefined ? nothingToCancel(rollout) : cancelledTooLate(rollout, state);
      await bulletin.noteCancel(id, "refused", why);
    }
  }

  async function tellPast(): Promise<void> {
    // Whatever changes in the list changes at the newest one: it begins, or it ends.
    const newest = JSON.stringify(parts.rollouts.last());
    if (newest === postedRollouts) return;
    const ended = parts.rollouts.recent(PAST + 1).filter(({ state }) => state !== "running");
    await bulletin.postRollouts(ended.slice(0, PAST));
    postedRollouts = newest;
    nextRollbacksMs = 0;
  }

  async function tellRollbacks(nowMs: number): Promise<void> {
    // Half-way through a rollout the answer is about to change, and the database may be closed.
    if (nowMs < nextRollbacksMs || parts.rollouts.last()?.state === "running") return;
    nextRollbacksMs = nowMs + ROLLBACKS_MS;
    await bulletin.postRollbacks(await parts.rollbacks());
  }

  async function runOnce(): Promise<void> {
    const nowMs = clock.monotonicMs();
    await lookAtApproval();
    if (nowMs >= nextStatusMs) {
      nextStatusMs = nowMs + STATUS_MS;
      await bulletin.postStatus(await parts.status());
    }
    if (nowMs >= nextOffersMs) {
      nextOffersMs = nowMs + OFFERS_MS;
      const offers = await parts.offers();
      const text = JSON.stringify(offers);
      if (text !== postedOffers) await bulletin.postOffers(offers);
      postedOffers = text;
    }
    // Last, those whose tables a restored older database may not have.
    await lookAtCancel();
    await tellPast();
    await tellRollbacks(nowMs);
  }

  async function run(): Promise<void> {
    let failing = false;
    for await (const _ of clock.every(LOOK_MS, lifetime.signal)) {
      try {
        await runOnce();
        failing = false;
      } catch (error) {
        if (!failing && !lifetime.signal.aborted)
          log.warn({ err: asError(error) }, "the pages could not be told; tried again");
        failing = true;
        // What was posted may be gone with a restored database.
        postedOffers = "";
        postedRollouts = "";
        nextRollbacksMs = 0;
      }
    }
  }

  return {
    start() {
      loop ??= run();
    },
    runOnce,
    async stop() {
      lifetime.abort();
      await loop;
      await bulletin.stop();
    },
  };
}
