// A schedule's cron line, as members write it.

import { type CronLine, parseCronLine } from "../../config/cron-line.ts";
import { failure } from "../core/wire/errors.ts";

/** Reads five fields and a zone's name. Throws `schedule.invalid`. */
export function readCronLine(text: string, zone: string): CronLine {
  const read = parseCronLine(text, zone);
  if ("next" in read) return read;
  throw "zone" in read ? failure("schedule.invalid#zone", read) : failure("schedule.invalid", read);
}
