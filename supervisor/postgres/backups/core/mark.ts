// The owner's mark in a backup directory: whose it is, and who writes now. Without it nothing is written, so an empty
// mount point never is. Pure.

import { z } from "zod";

export const MARK = "owl-backup.json";

const mark = z.object({
  format: z.literal(1),
  /** The installation whose backups these are; a restored home is the same one. */
  installation: z.string(),
  /** The home that writes: a restored one takes over, and the one before it stops. */
  holder: z.string(),
  since: z.string(),
  /** How often a standby was promoted: whoever wrote here under a lower number has been replaced, and runs nothing more. */
  generation: z.number().default(0),
  /** A standby follows: it may be promoted while whoever writes here cannot see it. */
  standby: z.boolean().default(false),
  /** What a passphrase is stretched with, and what a right one opens. */
  encryption: z.object({ salt: z.string(), check: z.string() }).nullable(),
});

export type Mark = z.output<typeof mark>;

/** null: no mark that this code knows. */
export function parseMark(text: string): Mark | null {
  try {
    return mark.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

type Verdict = "make" | "ours" | "takeOver" | "foreign" | "taken" | "replaced" | "unmounted" | "notEmpty";

/** What a home may do with a directory. `held`: it has written there before, under that `generation`. */
export function judgeMark(facts: {
  readonly mark: Mark | null;
  readonly isEmpty: boolean;
  readonly installation: string;
  readonly holder: string;
  readonly held: boolean;
  readonly generation: number;
}): Verdict {
  const { mark: found, isEmpty, installation, holder, held, generation } = facts;
  if (found === null) return held ? "unmounted" : isEmpty ? "make" : "notEmpty";
  if (found.installation !== installation) return "foreign";
  if (held && found.generation > generation) return "replaced";
  if (found.holder === holder) return "ours";
  return held ? "taken" : "takeOver";
}
