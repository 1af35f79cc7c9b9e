// From which programs to which a database goes up, and by which way. Pure.

import { Refusal } from "../../core/text/refusal.ts";
import type { Binaries } from "../binaries.ts";
import type { DumpPrograms } from "../dump-programs.ts";

export interface Choice {
  readonly from: Binaries;
  readonly to: Binaries;
  /** `dump`: where the programs for it are. */
  readonly way: { readonly kind: "pg_upgrade" } | { readonly kind: "dump"; readonly dir: string };
}

/** Throws `upgrade.nothingNewer`, `upgrade.noOld`, `upgrade.noDump`. */
export function choosePrograms(facts: {
  /** Of the data directory. */
  readonly major: number;
  /** The version asked for, or null: the newest there is. */
  readonly wanted: number | null;
  readonly found: readonly Binaries[];
  /** Newest first. */
  readonly dumps: readonly DumpPrograms[];
  /** Has this pair of programs all that pg_upgrade runs? */
  readonly canUpgrade: (from: Binaries, to: Binaries) => boolean;
}): Choice {
  const { major, wanted, found, dumps, canUpgrade } = facts;
  const newer = found.filter((one) => one.major > major && (wanted === null || one.major === wanted));
  const to = newer.reduce<Binaries | null>((best, one) => (best === null || one.major > best.major ? one : best), null);
  if (to === null) {
    const majors = [...new Set(found.map((one) => one.major))].join(", ");
    throw new Refusal("upgrade.nothingNewer", ({ refused }) => refused.upgrade.nothingNewer(major, wanted, majors));
  }
  const from = found.find((one) => one.major === major);
  if (from === undefined) throw new Refusal("upgrade.noOld", ({ refused }) => refused.upgrade.noOld(major));
  if (canUpgrade(from, to)) return { from, to, way: { kind: "pg_upgrade" } };
  // A pg_dump reads servers up to its own version; one that is newer than the new server writes what that may not know.
  const readable = dumps.filter((one) => one.major >= major);
  const dump = readable.find((one) => one.major <= to.major) ?? readable.at(-1);
  if (dump === undefined) throw new Refusal("upgrade.noDump", ({ refused }) => refused.upgrade.noDump(major));
  return { from, to, way: { kind: "dump", dir: dump.dir } };
}
