// Where a process's log lines go. Invariant: nobody ends because a line could not be written, on a full disk for one.

import { pino } from "pino";

/** What is kept in memory for the moment there is space again; what comes beyond it is lost. */
const KEPT_BYTES = 1024 * 1024;

/** Standard output or error for pino, written synchronously, so that the last words before an end are not lost. */
export function logDestination(fd: 1 | 2) {
  const destination = pino.destination({ dest: fd, sync: true, maxLength: KEPT_BYTES });
  // Unheard, it would be an uncaught exception in the middle of whatever was being done.
  destination.on("error", () => undefined);
  return destination;
}
