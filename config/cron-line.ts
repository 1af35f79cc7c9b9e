// When a cron line ticks in a time zone. Pure. The library says which wall-clock minutes the line names; what those are
// in time is told here, by one rule at the two nights a year when the clock is changed:
//   - a minute that the clock jumps over ticks when it has jumped (once, however many were jumped over);
//   - a minute that comes twice ticks the first time;
//   - a line for every hour (its hour begins with `*`) just goes on: nothing is made up for, nothing left out.
// Invariant: a tick is an instant after the one asked about; the same line, zone and instant give the same tick.

import { Cron } from "croner";

export interface CronLine {
  /** The first tick after that instant; null: it never ticks again. */
  next(afterMs: number): number | null;
}

const LINE = /^[0-9A-Za-z*,\-/#?]+(?: [0-9A-Za-z*,\-/#?]+){4}$/;
const EVERY_HOUR = /^\S+ \*/;
/** Two changes of the clock a year: further than a leap day is away. */
const MOST_CHANGES = 60;

/** What is wrong with a line (`why`), or with the zone's name. */
type CronFault = { readonly why: string } | { readonly zone: string };

/** Reads five fields and a zone's name. */
export function parseCronLine(text: string, zone: string): CronLine | CronFault {
  const line = text.trim().replace(/ +/g, " ");
  if (!LINE.test(line)) return { why: "it has not five fields" };
  let pattern: Cron;
  try {
    pattern = new Cron(line, { timezone: "UTC", mode: "5-part", paused: true });
  } catch (error) {
    return { why: (error as Error).message.replace(/^CronPattern: /, "") };
  }
  try {
    at(0, zone);
  } catch {
    return { zone };
  }
  const isEveryHour = EVERY_HOUR.test(line);
  // Wall-clock time is counted as if it were UTC's; the library counts whole seconds.
  const wallFrom = (fromMs: number) => pattern.nextRun(new Date(fromMs - 1_000))?.getTime() ?? null;

  function next(afterMs: number): number | null {
    let fromMs = Math.floor(afterMs / 1_000) * 1_000 + 1_000;
    for (let n = 0; n < MOST_CHANGES; n++) {
      const here = at(fromMs, zone);
      const offset = offsetOf(here);
      const wall = wallFrom(isEveryHour ? fromMs + offset : Math.max(fromMs + offset, repeatedUntil(here)));
      if (wall === null) return null;
      const change = here.getTimeZoneTransition("next");
      if (change === null || wall - offset < change.epochMilliseconds) return wall - offset;
      fromMs = change.epochMilliseconds;
      // Jumped over: between the minute in which the clock was changed and the one it was changed to.
      if (!isEveryHour && wall < fromMs + offsetOf(change)) return fromMs;
    }
    return null;
  }

  return { next };
}

const at = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
const offsetOf = (moment: Temporal.ZonedDateTime) => moment.offsetNanoseconds / 1_000_000;

/** The wall-clock time until which minutes come for the second time, after the clock was put back. */
function repeatedUntil(here: Temporal.ZonedDateTime): number {
  const changed = here.add({ nanoseconds: 1 }).getTimeZoneTransition("previous");
  if (changed === null) return Number.NEGATIVE_INFINITY;
  return changed.epochMilliseconds + offsetOf(changed.subtract({ nanoseconds: 1 }));
}
