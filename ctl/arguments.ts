// Values on the command line: durations, counts, and `name=number` pairs; refused as wrong use (exit 2).

import { InvalidArgumentError } from "commander";
import { parseDuration } from "../config/units.ts";
import type { Text } from "./text/text.ts";

/** Parses `10m` to milliseconds. */
export function durationArgument(text: Text): (value: string) => number {
  return (value) => {
    const ms = parseDuration(value);
    if (ms === null) throw new InvalidArgumentError(text.errors.duration(value));
    return ms;
  };
}

/** Parses a whole number of at least `least`. */
export function countArgument(text: Text, least = 0): (value: string) => number {
  return (value) => {
    const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(count >= least)) throw new InvalidArgumentError(text.errors.count(value, least));
    return count;
  };
}

/** Collects `web=3 worker=2` into an object. */
export function pairArgument(
  text: Text,
): (value: string, before: Record<string, number> | undefined) => Record<string, number> {
  return (value, before) => {
    const match = /^([a-z][a-z0-9-]*)=(\d{1,4})$/.exec(value);
    if (match === null) throw new InvalidArgumentError(text.errors.pair(value));
    return { ...before, [match[1] ?? ""]: Number(match[2]) };
  };
}
