// What owld and the pages tell each other, put together: offers from the releases here, approvals and wishes from there.
// Invariant: a release that lies in incoming/ is staged once, whole, before it is offered.

import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Rollout, RolloutRequest, Status } from "../../config/control-api.ts";
import { asError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import type { Clock } from "../../config/time.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { UpdatePlanned, UpdateRefused } from "../core/update-plan.ts";
import type { PostedOffer } from "../ports.ts";
import { createBulletin } from "../postgres/bulletin.ts";
import type { ReleaseFolder } from "../release/folder.ts";
import { signatureFile } from "../release/signature.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import { endGoneArchives, keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";
import { createApprovals } from "./approvals.ts";
import type { Assess } from "./assessment.ts";
import type { Updates } from "./request.ts";

interface OffersParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: Text;
  readonly store: Store;
  readonly journal: Pick<Journal, "write">;
  readonly rollouts: RolloutRunner;
  readonly paths: Pick<HomePaths, "incoming">;
  readonly status: () => Promise<Status>;
  readonly restart: (request: RolloutRequest, askedBy: string) => Promise<Rollout>;
  /** The metastore's. */
  readonly url: string;
  readonly updates: Updates;
  readonly assess: Assess;
  readonly folder: ReleaseFolder;
}

export interface Offers {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createOffers(parts: OffersParts): Offers {
  const { clock, store, log, paths, rollouts, updates, folder } = parts;

  /** Staged releases other than the running one, those lying in incoming/ staged first. */
  async function offers(): Promise<readonly PostedOffer[]> {
    const arrived = await readdir(paths.incoming).catch(() => [] as string[]);
    const archives = arrived.filter((one) => /\.tar(\.gz|\.zst)?$/.test(one)).map((one) => join(paths.incoming, one));
    endGoneArchives(store, archives);
    for (const path of archives) await takeIncoming(path);
    const found: PostedOffer[] = [];
    for (const release of await folder.staged()) {
      if (release.version === folder.running.version) continue;
      const manifest = await folder.manifest(release);
      if (manifest === null) continue;
      const { files: _files, links: _links, ...rest } = manifest;
      const plan = shownPlan(await parts.assess(release, false, parts.record), parts.record);
      found.push({ version: release.version, manifest: rest, plan, notes: manifest.notes.en.join("\n") });
    }
    return found;
  }

  async function takeIncoming(path: string): Promise<void> {
    const key = `incoming ${path}` as const;
    const { size, mtimeMs } = await stat(path);
    // Its signature may come after it: then it is looked at again.
    const signed = (await stat(signatureFile(path)).catch(() => null))?.mtimeMs ?? "";
    const seen = `${size} ${mtimeMs} ${signed}`.trim();
    // A file still being copied changes: it is taken when two looks saw the same.
    const before = readFact(store, key);
    if (before?.seen !== seen) {
      keepFact(store, key, { seen, done: false });
      return;
    }
    if (before.done) return;
    keepFact(store, key, { seen, done: true });
    try {
      const { version } = await folder.stage(path, new AbortController().signal, false);
      parts.journal.write({ type: "release.offered", message: parts.record.recorded.update.offered(version) });
    } catch (error) {
      parts.journal.write({ type: "release.refused", message: `${path}: ${wordsOf(error, parts.record).sentence}` });
    }
  }

  const approvals = createApprovals({
    clock,
    store,
    log,
    record: parts.record,
    bulletin: createBulletin(parts.url),
    status: parts.status,
    offers,
    rollouts,
    restart: (services, askedBy) =>
      parts.restart({ kind: "restart", ...(services === null ? {} : { services }) }, askedBy),
    update: updates.updateTo,
    rollback: updates.rollbackTo,
    rollbacks: () => updates.rollbacks(parts.record),
  });

  return {
    async start() {
      // Where a release is put to be offered; without it there is no place to put one.
      await mkdir(paths.incoming, { recursive: true, mode: 0o750 }).catch((error: unknown) =>
        log.error({ err: asError(error) }, "incoming/ could not be made"),
      );
      approvals.start();
    },
    stop: () => approvals.stop(),
  };
}

/** As the pages read it. */
function shownPlan(plan: UpdatePlanned | UpdateRefused, text: Text): Readonly<Record<string, unknown>> {
  if (plan.verdict === "planned") return { ...plan };
  const { sentence, next } = plan.words(text);
  return { verdict: plan.verdict, code: plan.code, reason: sentence, next };
}
