// What a person must be told of without asking, from what is known right now. Pure.
// Invariant: the same state of affairs has the same key and mark at every look, whatever its sentence says by then.

import type { OwlEvent, Rollout } from "../../config/control-api.ts";
import type { NoticeKind } from "../../config/notice-kinds.ts";
import type { WallMs } from "../../config/time.ts";
import { formatSize } from "../../config/units.ts";
import { type CertificateFacts, judgeCertificate } from "./certificate.ts";
import type { Sentence, Text } from "./text/text.ts";

export interface Matter {
  readonly key: string;
  readonly kind: NoticeKind;
  /** Another one under the same key is another matter. */
  readonly mark: string;
  /** Pages are down by it, or about to be. */
  readonly urgent: boolean;
  readonly text: string;
}

export interface MatterFacts {
  readonly nowMs: WallMs;
  /** What ended before is nobody's news. */
  readonly sinceMs: WallMs;
  /** Newest first. */
  readonly rollouts: readonly Pick<Rollout, "id" | "kind" | "state" | "endedAt" | "reason">[];
  /** The newest ones. */
  readonly events: readonly Pick<OwlEvent, "at" | "type" | "service" | "message">[];
  readonly services: readonly { readonly name: string; readonly looping: boolean; readonly down: boolean }[];
  readonly disk: readonly { readonly path: string; readonly freeBytes: number | null; readonly neededBytes: number }[];
  /** Why the state file cannot be written. */
  readonly unwritable: string | null;
  readonly certificate: CertificateFacts | null;
  readonly backup: { readonly lastAtMs: WallMs | null; readonly everyMs: number } | null;
  /** Those of `status`, by key. */
  readonly warnings: ReadonlyMap<string, Sentence>;
}

/** A worker that hung is replaced within moments; it is a matter until none has hung for so long. */
const HUNG_MS = 600_000;
const LONGEST = 1_000;

export function mattersOf(facts: MatterFacts, text: Text): readonly Matter[] {
  const found = [
    ...rolloutMatter("rollout", ["restart", "deploy"], facts, text),
    ...rolloutMatter("update", ["update", "rollback"], facts, text),
    ...serviceMatters(facts, text),
    ...diskMatter(facts, text),
    ...certificateMatter(facts, text),
    ...wearMatters(facts, text),
    ...backupMatters(facts, text),
  ];
  return found.map((one) => ({ ...one, text: one.text.slice(0, LONGEST) }));
}

/** The newest one that came to an end of its own: a cancelled one neither fails nor heals. */
function rolloutMatter(
  kind: "rollout" | "update",
  kinds: readonly Rollout["kind"][],
  { rollouts, sinceMs }: MatterFacts,
  { notices }: Text,
): Matter[] {
  const last = rollouts.find((one) => kinds.includes(one.kind) && ["succeeded", "failed"].includes(one.state));
  if (last?.state !== "failed" || last.endedAt === null || Date.parse(last.endedAt) < sinceMs) return [];
  return [{ key: kind, kind, mark: last.id, urgent: false, text: notices[kind](last.id, last.reason ?? "") }];
}

function serviceMatters({ services, events, nowMs, sinceMs }: MatterFacts, text: Text): Matter[] {
  const looping = services
    .filter((one) => one.looping)
    .map(({ name, down }): Matter => {
      const kind = "crash-loop";
      return { key: `${kind} ${name}`, kind, mark: "", urgent: down, text: text.why.crashLooping(name) };
    });
  const hung = new Map<string, Matter>();
  for (const { at, type, service, message } of events) {
    const atMs = Date.parse(at);
    if (type !== "instance.hung" || service === null || atMs < sinceMs || nowMs - atMs > HUNG_MS) continue;
    hung.set(service, { key: `worker ${service}`, kind: "worker", mark: "", urgent: false, text: message });
  }
  return [...looping, ...hung.values()];
}

function diskMatter({ disk, unwritable }: MatterFacts, { notices, warnings }: Text): Matter[] {
  const kind = "disk";
  if (unwritable !== null)
    return [{ key: kind, kind, mark: "full", urgent: true, text: warnings.diskFull(unwritable) }];
  for (const { path, freeBytes, neededBytes } of disk) {
    if (freeBytes === null || freeBytes >= neededBytes) continue;
    const text = notices.disk(path, formatSize(freeBytes), formatSize(neededBytes));
    return [{ key: kind, kind, mark: "low", urgent: false, text }];
  }
  return [];
}

function certificateMatter({ certificate, nowMs }: MatterFacts, { preflight, warnings }: Text): Matter[] {
  if (certificate === null) return [];
  const { verdict, found } = judgeCertificate(certificate, nowMs);
  if (verdict === "OK") return [];
  const kind = "certificate";
  return [{ key: kind, kind, mark: verdict, urgent: verdict === "FAIL", text: warnings.certificate(found(preflight)) }];
}

function wearMatters({ warnings }: MatterFacts, text: Text): Matter[] {
  return [...warnings].flatMap(([key, say]): Matter[] => {
    const kind = key === "disk forecast" ? "disk" : key.startsWith("database ") ? "database" : null;
    return kind === null ? [] : [{ key, kind, mark: "", urgent: false, text: say(text) }];
  });
}

function backupMatters({ backup, warnings, nowMs, sinceMs }: MatterFacts, text: Text): Matter[] {
  const found: Matter[] = [];
  for (const [key, say] of warnings) {
    const kind = key === "drill" ? key : key.startsWith("backup ") && key !== "backup external" ? "backup" : null;
    if (kind !== null) found.push({ key, kind, mark: "", urgent: false, text: say(text) });
  }
  if (backup === null) return found;
  const missing = nowMs - Math.max(backup.lastAtMs ?? 0, sinceMs) > 2 * backup.everyMs;
  const last = backup.lastAtMs === null ? null : new Date(backup.lastAtMs).toISOString();
  if (missing)
    found.push({ key: "backup", kind: "backup", mark: "", urgent: false, text: text.notices.backupMissing(last) });
  return found;
}
