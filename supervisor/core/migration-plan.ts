// Which migrations a database lacks, and when it must not be touched. Pure.
// Invariant: what was applied is never applied again, changed, or skipped over.

import type { Text, Words } from "./text/text.ts";

export interface Migration {
  readonly number: number;
  /** File name, `0001_turns.sql` */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** May the code before this migration run on the schema after it? Its first line says so. */
  readonly compatible: boolean;
}

export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
  /** As its file declared it. */
  readonly compatible: boolean;
}

type MigrationPlan =
  | { readonly verdict: "upToDate"; readonly version: number }
  | {
      readonly verdict: "pending";
      readonly pending: readonly Migration[];
      /** All of them may run under the old code; always true on a database without any. */
      readonly compatible: boolean;
    }
  | { readonly verdict: "refused"; readonly code: string; readonly words: (text: Text) => Words };

/** Compares the files (any order) with what the database says was applied. */
export function planMigrations(files: readonly Migration[], applied: readonly AppliedMigration[]): MigrationPlan {
  const known = [...files].sort((a, b) => a.number - b.number);
  const gap = known.findIndex((file, index) => file.number !== index + 1);
  if (gap >= 0) {
    return refused("migrate.numbers", (t) => t.numbers(known[gap]?.name, gap + 1));
  }
  const done = [...applied].sort((a, b) => a.number - b.number);
  for (const [index, one] of done.entries()) {
    if (one.number !== index + 1) {
      return refused("migrate.gap", (t) => t.gap(index + 1, one.number, one.name));
    }
    const file = known[index];
    // After a rollback: an older release lives with a schema that went ahead compatibly.
    if (!file && done.slice(index).every((later) => later.compatible)) break;
    if (!file) {
      return refused("migrate.future", (t) => t.future(one.name, known.length));
    }
    if (file.sha256 !== one.sha256) {
      return refused("migrate.changed", (t) => t.changed(file.name, one.name));
    }
  }
  const pending = known.slice(done.length);
  if (pending.length === 0) return { verdict: "upToDate", version: known.length };
  return { verdict: "pending", pending, compatible: done.length === 0 || pending.every((one) => one.compatible) };
}

function refused(code: string, words: (text: Text["refused"]["migration"]) => Words): MigrationPlan {
  return { verdict: "refused", code, words: ({ refused: { migration } }) => words(migration) };
}

/** A migration from its file's name and text, or a sentence saying what is wrong with it. */
export function parseMigration(name: string, sql: string, sha256: string): Migration | string {
  const number = /^(\d{4})_[a-z0-9_-]+\.sql$/.exec(name)?.[1];
  if (number === undefined) return `migrations/${name} is not named like 0001_turns.sql.`;
  const declared = /^--\s*(compatible|incompatible)\s*$/.exec(sql.split("\n", 1)[0] ?? "")?.[1];
  if (declared === undefined) return `migrations/${name}:1 must be "-- compatible" or "-- incompatible".`;
  return { number: Number(number), name, sql, sha256, compatible: declared === "compatible" };
}
