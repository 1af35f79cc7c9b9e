// owld's own log on standard error: pretty on a terminal, sentences with their priority in systemd's journal, else (or by
// OWL_LOG=json) one JSON object a line. Invariant: no line has a key twice.

import { fstatSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { logDestination } from "../../config/log-destination.ts";
import { journalLine, journalPriority } from "./journal-line.ts";

/** What pino puts there itself; a field of that name goes by another. */
const OWN_KEYS = ["level", "time", "pid", "msg"];

/** The log. */
export function createLog(env: Readonly<Record<string, string | undefined>>): Logger {
  const redact = ["*.password", "*.apiKey", "*.url", "*.databaseUrl"];
  const formatters = { log: withoutOwnKeys };
  const asJson = env.OWL_LOG === "json";
  const toJournal = isJournal(env.JOURNAL_STREAM);
  if (!asJson && process.stderr.isTTY) {
    const stream = pretty({
      destination: 2,
      sync: true,
      colorize: true,
      // The sentence names service and instance already; on a terminal one line a sentence is what can be followed.
      ignore: "pid,hostname,type,service,instance,rollout,data",
      singleLine: true,
      translateTime: "SYS:HH:MM:ss.l",
    });
    return pino({ base: null, redact, formatters }, stream);
  }
  const out = logDestination(2);
  if (!toJournal) return pino({ base: { pid: process.pid }, redact, formatters }, out);
  // The journal knows time and process by itself.
  const line = asJson ? (text: string) => `<${journalPriority(text)}>${text}` : journalLine;
  const journal: DestinationStream = { write: (text) => void out.write(line(text)) };
  return pino({ base: null, timestamp: asJson, redact, formatters }, journal);
}

function withoutOwnKeys(fields: Record<string, unknown>): Record<string, unknown> {
  if (!OWN_KEYS.some((key) => key in fields)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [OWN_KEYS.includes(key) ? `its_${key}` : key, value]),
  );
}

/** systemd names the very stream it connected to the journal. */
function isJournal(stream: string | undefined): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(2, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
