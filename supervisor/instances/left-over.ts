// Looks for what an instance left behind outside its group (a double fork with setsid): found by the mark, told by pid
// and command, never ended. One look a second at most, for it reads all of /proc.

import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import type { Instance } from "../core/instance.ts";
import type { Text } from "../core/text/text.ts";
import type { ProcessTable } from "../ports.ts";
import type { InstanceBook } from "./book.ts";

const PAUSE_MS = 1_000;

export interface ExitedLookout {
  /** This instance's process is gone. */
  note(instance: Instance): void;
  stop(): void;
}

export function createExitedLookout(parts: {
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly mark: string;
  readonly book: Pick<InstanceBook, "note">;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly failed: (error: Error) => void;
}): ExitedLookout {
  const gone = new Map<string, Instance>();
  let cancel: (() => void) | null = null;

  function look(): void {
    cancel = null;
    const exited = new Map(gone);
    gone.clear();
    try {
      for (const found of parts.table.marked(parts.mark)) {
        const instance = exited.get(found.instance);
        if (instance === undefined || found.identity.pid === instance.identity?.pid) continue;
        const { pid } = found.identity;
        const message = parts.record.recorded.instance.leftOver(instance.id, pid, found.command);
        parts.book.note(instance, "instance.leftOver", message, { pid, command: found.command });
      }
    } catch (error) {
      parts.failed(asError(error));
    }
  }

  return {
    note(instance) {
      gone.set(instance.id, instance);
      cancel ??= parts.clock.after(PAUSE_MS, look, { unref: true });
    },
    stop: () => cancel?.(),
  };
}
