// What is said of an exit. Pure. Invariant: "out of memory" is told as likely only, for nobody tells us for sure.

import type { LastExit } from "../../config/control-api.ts";

type ExitFacts =
  | { readonly known: true; readonly code: number | null; readonly signal: string | null }
  | { readonly known: false };

/** What `status` says of an exit. `at`: ISO time. */
export function exitOf(report: ExitFacts, killedByUs: boolean, at: string): LastExit {
  if (!report.known) return { known: false, at };
  // The kernel's out-of-memory killer leaves no more trace than this in a process of our own.
  const outOfMemory = report.signal === "SIGKILL" && !killedByUs ? "likely" : "no";
  return { known: true, code: report.code, signal: report.signal, at, outOfMemory };
}

/** The exit in a few words. */
export function describeExit(exit: LastExit): string {
  if (!exit.known) return "exit code not known: it was started by an earlier owld";
  if (exit.signal !== null) return exit.signal;
  return exit.code === null ? "no process" : `exit code ${exit.code}`;
}
