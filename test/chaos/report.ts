// The result of a chaos run: as a document, and as lines for a person.

import type { Schedule } from "./plan/schedule.ts";
import type { Timeline, Violation } from "./timeline.ts";

export interface Report {
  readonly seed: number;
  readonly minutes: number;
  readonly schedule: Schedule;
  /** Faults that met something to hit, by name. */
  readonly injected: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly violations: readonly Violation[];
  /** Where the product's logs lie, when there is something to look into. */
  readonly logs: string | null;
  readonly timeline: Timeline;
}

const AROUND_MS = 20_000;
const SHOWN = 20;

/** Each violation with its objects and what happened around it, then the sums. */
export function reportLines(report: Report): readonly string[] {
  const lines: string[] = [];
  for (const violation of report.violations.slice(0, SHOWN)) {
    lines.push("", `VIOLATION (seed ${report.seed}): ${violation.sentence}`, `  ${JSON.stringify(violation.objects)}`);
    const moment = momentOf(violation);
    lines.push(
      "  timeline:",
      ...report.timeline.lines(moment.from - AROUND_MS, moment.until + 5_000).map((line) => `  ${line}`),
    );
  }
  if (report.violations.length > SHOWN) lines.push(`… and ${report.violations.length - SHOWN} more`);
  const faults = Object.values(report.injected).reduce((a, b) => a + b, 0);
  lines.push(
    "",
    `seed ${report.seed}, ${report.minutes} min: ${faults} faults, ${report.schedule.operations.length} operations, ${report.violations.length} violations`,
    `  faults: ${Object.entries(report.injected)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")}`,
    `  ${JSON.stringify(report.figures)}`,
  );
  if (report.violations.length > 0)
    lines.push(`  again: npm run chaos -- --seed ${report.seed} --minutes ${report.minutes}`);
  if (report.logs !== null) lines.push(`  logs: ${report.logs}`);
  return lines;
}

/** When the object concerned lived, as far as it tells; else when the violation was found. */
function momentOf(violation: Violation): { readonly from: number; readonly until: number } {
  const object = (violation.objects.turn ??
    violation.objects.run ??
    violation.objects.batch ??
    violation.objects.answer) as { acceptedAt?: number; sentAt?: number; endedAt?: number } | undefined;
  const from = object?.acceptedAt ?? object?.sentAt ?? violation.at;
  return { from, until: object?.endedAt || from + AROUND_MS };
}
