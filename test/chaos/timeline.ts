// What happened in a chaos run, in order, and what was found wrong. Times are milliseconds of the machine's clock.

import { systemClock } from "../../config/system-time.ts";

export interface Note {
  readonly at: number;
  readonly what: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Violation {
  readonly at: number;
  /** Which promise is broken, in a sentence. */
  readonly sentence: string;
  readonly objects: Readonly<Record<string, unknown>>;
}

export interface Timeline {
  readonly startedAt: number;
  readonly notes: readonly Note[];
  readonly violations: readonly Violation[];
  note(what: string, data?: Readonly<Record<string, unknown>>): void;
  violation(sentence: string, objects: Readonly<Record<string, unknown>>): void;
  /** Notes of a stretch of time as lines. */
  lines(from: number, until: number): readonly string[];
}

export function createTimeline(echo: (line: string) => void): Timeline {
  const startedAt = systemClock.now();
  const notes: Note[] = [];
  const violations: Violation[] = [];
  const line = (note: Note) =>
    `${((note.at - startedAt) / 1_000).toFixed(2).padStart(8)} s  ${note.what}  ${Object.keys(note.data).length > 0 ? JSON.stringify(note.data) : ""}`;
  return {
    startedAt,
    notes,
    violations,
    note(what, data = {}) {
      const note = { at: systemClock.now(), what, data };
      notes.push(note);
      echo(line(note));
    },
    violation(sentence, objects) {
      const violation = { at: systemClock.now(), sentence, objects };
      violations.push(violation);
      echo(line({ at: violation.at, what: `VIOLATION: ${sentence}`, data: objects }));
    },
    lines: (from, until) => notes.filter((note) => note.at >= from && note.at <= until).map(line),
  };
}
