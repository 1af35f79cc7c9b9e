// Which text of owl.yaml holds: kept beside the state file, so that what was refused or has not yet stood never comes
// into force by a crash, a kill -9 of owld or its restart.
// Invariant: the text as it was written, with its references to secrets, never their values; 0600, replaced whole.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EarlierReleases, Releases } from "../core/own-release.ts";
import { replaceFile } from "../release/sync.ts";

/** null: there was no file. */
export type DefinitionText = string | null;

export interface DefinitionRecord {
  readonly inForce: DefinitionText;
  /** The boot in which owld serves by it; null: it stopped in order, and nothing runs by it any more. */
  readonly bootId: string | null;
  /** Which release of a team's own code each service runs. Absent in records of older ones. */
  readonly releases?: Releases;
  /** Which ones each ran before those. Absent in records of older ones. */
  readonly earlier?: EarlierReleases;
  /** What the running rollout tries out; `rollout` null: it is just being begun. */
  readonly trial: {
    readonly rollout: string | null;
    readonly text: DefinitionText;
    /** Other releases, and owl.yaml as it was in force. Absent: another owl.yaml, and the same releases. */
    readonly releases?: Releases;
    /** It goes back to what was before: what is not in force then, where that is another owl.yaml. */
    readonly refused?: Refused;
  } | null;
  /** What held until that rollout's change stood, as long as it may be gone back to. Absent in records of older ones. */
  readonly before?: {
    readonly rollout: string;
    readonly text: DefinitionText;
    readonly releases: Releases;
  } | null;
  /** What lay there and is not in force, and why. */
  readonly refused: Refused | null;
}

export interface Refused {
  readonly hash: string;
  /** null: it was changed, and nobody has asked to read it. */
  readonly reason: string | null;
}

/** Tells one text from another; `undefined`: it could not be read. */
export function hashOf(text: DefinitionText | undefined): string {
  if (text === undefined) return "unreadable";
  return text === null ? "none" : createHash("sha256").update(text).digest("hex");
}

/** null: none is kept, or what is kept cannot be read. */
export function readDefinition(directory: string): DefinitionRecord | null {
  try {
    const found = JSON.parse(readFileSync(pathIn(directory), "utf8")) as Partial<DefinitionRecord>;
    const { inForce, bootId = null, releases = {}, earlier = {}, trial = null, refused = null, before = null } = found;
    return inForce === undefined ? null : { inForce, bootId, releases, earlier, trial, refused, before };
  } catch {
    return null;
  }
}

export function writeDefinition(directory: string, record: DefinitionRecord): void {
  replaceFile(pathIn(directory), JSON.stringify(record));
}

/**
 * Why an owld that starts goes by what was in force instead of the file; null: it goes by the file. While what an earlier one started may live, that is what it lives by; a file that
 * was refused stays so until it is another one.
 */
export function keepsInForce(
  file: DefinitionText | undefined,
  kept: DefinitionRecord | null,
  bootId: string,
): Refused | null {
  const hash = hashOf(file);
  if (kept === null || hash === hashOf(kept.inForce)) return null;
  if (kept.refused?.hash === hash && kept.refused.reason !== null) return kept.refused;
  return kept.bootId === bootId ? { hash, reason: null } : null;
}

function pathIn(directory: string): string {
  return join(directory, "definition.json");
}
