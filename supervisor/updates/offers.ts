// What owld and the pages tell each other, put together: offers from the releases here, approvals and wishes from there.
// Invariant: a release that lies in incoming/ is staged once, whole, before it is offered.

import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { asError } from "../../config/errors.ts";
import type { Manifest } from "../core/manifest.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import type { UpdatePlanned, UpdateRefused } from "../core/update-plan.ts";
import type { PostedOffer } from "../ports.ts";
import { createBulletin } from "../postgres/bulletin.ts";
import { createApprovals } from "./approvals.ts";
import type { ReleaseParts } from "./releases.ts";
import type { Updates } from "./request.ts";

interface BoardParts
  extends Pick<
    ReleaseParts,
    "clock" | "log" | "record" | "store" | "journal" | "rollouts" | "paths" | "version" | "status" | "restart"
  > {
  /** The metastore's. */
  readonly url: string;
  readonly updates: Updates;
  readonly staged: () => Promise<readonly ReleaseRef[]>;
  readonly manifest: (release: ReleaseRef) => Promise<Manifest | null>;
  readonly stage: (source: string, signal: AbortSignal) => Promise<ReleaseRef>;
}

export interface Board {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createBoard(parts: BoardParts): Board {
  const { clock, store, log, paths, rollouts, updates } = parts;

  /** Staged releases other than the running one, those lying in incoming/ staged first. */
  async function offers(): Promise<readonly PostedOffer[]> {
    const arrived = await readdir(paths.incoming).catch(() => [] as string[]);
    for (const name of arrived.filter((one) => /\.tar(\.gz|\.zst)?$/.test(one)))
      await takeIncoming(join(paths.incoming, name));
    const found: PostedOffer[] = [];
    for (const release of await parts.staged()) {
      if (release.version === parts.version) continue;
      const manifest = await parts.manifest(release);
      if (manifest === null) continue;
      const { files: _files, links: _links, ...rest } = manifest;
      const plan = shownPlan(await updates.assess(release, false, parts.record), parts.record);
      found.push({ version: release.version, manifest: rest, plan, notes: manifest.notes.en.join("\n") });
    }
    return found;
  }

  async function takeIncoming(path: string): Promise<void> {
    const key = `incoming ${path}`;
    const { size, mtimeMs } = await stat(path);
    const seen = `${size} ${mtimeMs}`;
    // A file still being copied changes: it is taken when two looks saw the same.
    const before = store.all<{ readonly seen: string; readonly done: boolean }>("fact").get(key);
    if (before?.seen !== seen) {
      store.put("fact", key, { seen, done: false });
      return;
    }
    if (before.done) return;
    store.put("fact", key, { seen, done: true });
    try {
      const { version } = await parts.stage(path, new AbortController().signal);
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
