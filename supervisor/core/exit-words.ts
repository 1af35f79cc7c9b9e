// What is said of an exit. Pure. Invariant: "out of memory" is told as likely only: the kernel's counter says that it
// killed something for want of memory just then, not whom.

import type { LastExit } from "../../config/control-api.ts";
import type { Recorded } from "./text/text.ts";

type ExitFacts =
  | { readonly known: true; readonly code: number | null; readonly signal: string | null }
  | { readonly known: false };

/** What `status` says of an exit. `oomKill`: the kernel killed for want of memory lately. `at`: ISO time. */
export function exitOf(report: ExitFacts, killedByUs: boolean, oomKill: boolean, at: string): LastExit {
  if (!report.known) return { known: false, at };
  const outOfMemory = report.signal === "SIGKILL" && !killedByUs && oomKill ? "likely" : "no";
  return { known: true, code: report.code, signal: report.signal, at, outOfMemory };
}

/** The exit in a few words. */
export function describeExit(exit: LastExit, { exit: words }: Recorded): string {
  if (!exit.known) return words.unknown;
  if (exit.signal !== null) return exit.outOfMemory === "likely" ? words.outOfMemory(exit.signal) : exit.signal;
  return exit.code === null ? words.noProcess : words.code(exit.code);
}
