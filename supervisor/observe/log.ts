// owld's own log on standard error: pretty on a terminal, else one JSON object a line.

import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { logDestination } from "../../config/log-destination.ts";

/** The log. */
export function createLog(): Logger {
  const redact = ["*.password", "*.apiKey", "*.url", "*.databaseUrl"];
  if (!process.stderr.isTTY) return pino({ base: { pid: process.pid }, redact }, logDestination(2));
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
