// What administrators approved on the page, executed here and nowhere else; and what the page shows of owld.
// Invariant: an approval is begun once: its id is in the state file before its rollout is, so that a restored database
// that still holds it waiting starts nothing again.

import type { Logger } from "pino";
import type { Rollout, Status } from "../config/control-api.ts";
import { asError } from "../config/errors.ts";
import type { Clock } from "../config/time.ts";
import { wordsOf } from "./core/text/refusal.ts";
import type { Text } from "./core/text/text.ts";
import type { Bulletin, PostedOffer } from "./ports.ts";
import type { Store } from "./state/store.ts";

const LOOK_MS = 1_000;
const STATUS_MS = 3_000;
const OFFERS_MS = 10_000;

export interface ApprovalParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly bulletin: Bulletin;
  /** What is written down is written once, in this. */
  readonly record: Text;
  readonly status: () => Promise<Status>;
  readonly offers: () => Promise<readonly PostedOffer[]>;
  readonly restart: (services: readonly string[] | null) => Promise<Rollout>;
  readonly update: (version: string, approval: string) => Promise<Rollout>;
  readonly rollout: (id: string) => Rollout | null;
}

export interface Approvals {
  start(): void;
  /** One look; for tests. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

/** What was done about an approval, by its id in the state file. */
interface Taken {
  readonly rollout: string | null;
  readonly refused: string | null;
}

/** On record together with the update that an approval begins: killed right after it, nobody calls it refused. */
export function noteBegun(store: Store, approval: string, rollout: string): void {
  store.put("fact", factOf(approval), { rollout, refused: null } satisfies Taken);
}

const factOf = (approval: string): string => `approval ${approval}`;

export function createApprovals(parts: ApprovalParts): Approvals {
  const { clock, store, bulletin, log } = parts;
  const lifetime = new AbortController();
  let loop: Promise<void> | null = null;
  let nextStatusMs = 0;
  let nextOffersMs = 0;
  let postedOffers = "";

  async function take(id: string, begin: () => Promise<Rollout>): Promise<Taken> {
    const key = factOf(id);
    const known = store.all<Taken>("fact").get(key);
    if (known !== undefined) return known;
    // Before the rollout: killed in between, an approval is lost rather than executed twice.
    store.put("fact", key, { rollout: null, refused: "owld was stopped before it could begin." } satisfies Taken);
    let taken: Taken;
    try {
      taken = { rollout: (await begin()).id, refused: null };
    } catch (caught) {
      const { sentence, next } = wordsOf(caught, parts.record);
      taken = { rollout: null, refused: `${sentence}${next === undefined ? "" : ` ${next}`}` };
    }
    store.put("fact", key, taken);
    return taken;
  }

  async function lookAtApproval(): Promise<void> {
    const approval = await bulletin.openApproval();
    if (approval === null) return;
    const { id, kind, version, services } = approval;
    const taken = await take(id, () => (kind === "update" ? parts.update(version ?? "", id) : parts.restart(services)));
    if (taken.refused !== null) {
      await bulletin.noteApproval(id, { state: "refused", rollout: null, message: taken.refused });
      return;
    }
    const rollout = taken.rollout === null ? null : parts.rollout(taken.rollout);
    const state = rollout?.state === "cancelled" ? "failed" : (rollout?.state ?? "failed");
    await bulletin.noteApproval(id, { state, rollout, message: rollout?.reason ?? null });
    if (approval.state === "waiting")
      log.info({ approval: id, by: approval.by, rollout: rollout?.id }, "an approval is executed");
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
