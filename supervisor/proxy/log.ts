// Log lines of the proxy process: one JSON object a line on standard error, which owld keeps as its log file.

import { type Clock, isoTime } from "../../config/time.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  info(fields: Fields, sentence: string): void;
  warn(fields: Fields, sentence: string): void;
}

/** Writes to `write` (standard error); each line carries time, level and the proxy's id. */
export function createLog(clock: Clock, id: string, write: (line: string) => void): Log {
  const line = (level: string, fields: Fields, message: string) =>
    write(`${JSON.stringify({ at: isoTime(clock.now()), level, proxy: id, message, ...fields })}\n`);
  return {
    info: (fields, sentence) => line("info", fields, sentence),
    warn: (fields, sentence) => line("warn", fields, sentence),
  };
}
