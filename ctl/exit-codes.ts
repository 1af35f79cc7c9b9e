// The one translator of errors to exit codes, and of errors to the two lines a person reads.

import { EXIT } from "../config/control-api.ts";
import { asError, OwlError } from "../config/errors.ts";
import type { Text } from "./text/text.ts";

/** Ctrl-C while watching: the work goes on. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

const BY_CODE: Readonly<Record<string, number>> = {
  "config.invalid": EXIT.config,
  "rollout.busy": EXIT.busy,
  "daemon.unreachable": EXIT.unreachable,
  "daemon.denied": EXIT.unreachable,
  "daemon.silent": EXIT.unreachable,
  "daemon.gone": EXIT.unreachable,
  "watch.timeout": EXIT.timeout,
  "watch.away": EXIT.unreachable,
};

/** Names that do not exist and words that mean nothing are wrong use; all else ran and failed. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (!(error instanceof OwlError)) return EXIT.failed;
  const known = BY_CODE[error.code];
  if (known !== undefined) return known;
  return /^usage\.|\.(unknown|notFound|invalid)$/.test(error.code) ? EXIT.usage : EXIT.failed;
}

/** What went wrong, then what to do next: in the reader's language when the catalogue knows the code. */
export function errorLines(error: unknown, text: Text): { readonly sentence: string; readonly next: string | null } {
  if (!(error instanceof OwlError)) {
    return { sentence: text.errors.internal(asError(error).message), next: text.errors.internalNext };
  }
  const worded: Readonly<
    Record<string, ((data: OwlError["data"]) => { sentence: string; next: string } | null) | undefined>
  > = text.byCode;
  const known = worded[error.code]?.(error.data);
  return { sentence: known?.sentence ?? error.message, next: known?.next ?? error.next ?? null };
}
