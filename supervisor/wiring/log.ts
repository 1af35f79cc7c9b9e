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
    ignore: "pid,hostname",
    translateTime: "SYS:HH:MM:ss.l",
  });
  return pino({ base: null, redact }, stream);
}
