// owld's own log on standard error: pretty on a terminal, else one JSON object a line.

import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

/** The log. Written synchronously, so that the last words before an end are not lost. */
export function createLog(): Logger {
  const redact = ["*.password", "*.apiKey", "*.url", "*.databaseUrl"];
  if (!process.stderr.isTTY)
    return pino({ base: { pid: process.pid }, redact }, pino.destination({ dest: 2, sync: true }));
  const stream = pretty({
    destination: 2,
    sync: true,
    colorize: true,
    // The sentence names service and instance already; on a terminal one line a sentence is what can be followed.
    ignore: "pid,hostname,type,service,instance,rollout,data",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss.l",
  });
  return pino({ base: null, redact }, stream);
}
