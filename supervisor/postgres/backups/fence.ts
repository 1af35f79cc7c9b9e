// Before anything of this home runs: has a standby been promoted in its place? What the backup directory's mark says is
// all that two machines share. Invariant: a home that was replaced starts no database and no instance.

import type { BackupConfig } from "../../../config/config.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { readFact } from "../../state/facts.ts";
import type { Foundation } from "../../state/foundation.ts";
import { readMark } from "./directory.ts";

/** A mount that hangs tells nothing. */
const LOOK_MS = 10_000;

/** Throws `backup.replaced`; `backup.unsure` when a standby follows and the directory does not tell. */
export async function refuseReplaced(
  { store, clock }: Pick<Foundation, "store" | "clock">,
  backup: BackupConfig | null,
): Promise<void> {
  const known = readFact(store, "backup directory");
  if (backup === null || known?.directory !== backup.directory || !known.held) return;
  const over = new AbortController();
  const mark = await Promise.race([
    readMark(backup.directory).catch(() => null),
    clock.sleep(LOOK_MS, over.signal).then(
      () => null,
      () => null,
    ),
  ]).finally(() => over.abort());
  const path = backup.directory;
  if (mark === null) {
    if (known.standby) throw new Refusal("backup.unsure", ({ refused }) => refused.backup.unsure(path));
  } else if (mark.installation === readFact(store, "installation") && mark.generation > (known.generation ?? 0))
    throw new Refusal("backup.replaced", ({ refused }) => refused.backup.replaced(path));
}
