// What the backup program tells, kept: facts, events, warnings, and the part of the status that is made of them.
// Invariant: each problem is told when it comes, not at every try.

import type { Config } from "../../../config/config.ts";
import type { BackupStatus, DrillStatus } from "../../../config/control-api.ts";
import { isoTime } from "../../../config/time.ts";
import { keepFact, readFact } from "../../state/facts.ts";
import type { Foundation } from "../../state/foundation.ts";
import { lastDrill } from "./drill.ts";
import type { BackupReport, Told } from "./report.ts";

interface BackupStanding {
  hear(report: BackupReport): void;
  /** One is asked for: it runs from now on, until something is told. */
  asked(): void;
  /** Whoever told us has ended. */
  ended(): void;
  isRunning(): boolean;
  /** What was free on the directory's disk when it was looked at last. */
  space(): { readonly path: string; readonly freeBytes: number } | null;
  /** null: none are made. */
  status(): BackupStatus | null;
}

export function createBackupStanding(parts: {
  readonly ground: Foundation;
  readonly config: () => Config;
  /** A standby was promoted: this home is to run nothing more. */
  readonly replaced: () => void;
}): BackupStanding {
  const { store, journal, warnings, record, paths } = parts.ground;
  let running = false;
  let logAtMs: number | null = null;
  let lagMs = 0;
  let followedMs: number | null = null;
  let freeBytes: number | null = null;
  const problems = new Map<string, Told>();
  const inOurs = (problem: Told): string => (parts.config().language === "ko" ? problem.ko : problem.en);

  function hear(report: BackupReport): void {
    if (report.kind === "held") {
      const place = readFact(store, "backup directory");
      const { generation, standby } = report;
      if (place !== null) keepFact(store, "backup directory", { ...place, held: true, generation, standby });
    } else if (report.kind === "followed") followedMs = report.atMs;
    else if (report.kind === "space") ({ freeBytes } = report);
    else if (report.kind === "log") {
      logAtMs = report.atMs;
      ({ lagMs } = report);
    } else if (report.kind === "began") running = true;
    else if (report.kind === "finished") {
      running = false;
      const { id, atMs, bytes, elapsedMs } = report;
      if (readFact(store, "first backup") === null) keepFact(store, "first backup", atMs);
      keepFact(store, "last backup", { id, at: atMs, bytes, elapsedMs });
      journal.write({
        type: "backup.finished",
        message: record.recorded.backup.finished(id),
        data: { bytes, elapsedMs },
      });
    } else tell(report.part, report.problem);
  }

  function tell(part: string, problem: Told | null): void {
    // Without its log there is no backup either.
    if (part === "backup" || (part === "log" && problem !== null)) running = false;
    const before = problems.get(part);
    if (problem === null) {
      if (!problems.delete(part)) return;
      warnings.delete(`backup ${part}`);
      journal.write({ type: "backup.recovered", message: record.recorded.backup.recovered });
      return;
    }
    problems.set(part, problem);
    if (problem.code === "backup.replaced") parts.replaced();
    warnings.set(`backup ${part}`, (text) => (text.language === "ko" ? problem.ko : problem.en));
    const message = inOurs(problem);
    if (before?.code !== problem.code) journal.write({ type: "backup.failed", message, data: { code: problem.code } });
  }

  return {
    hear,
    asked() {
      running = true;
    },
    ended() {
      running = false;
    },
    isRunning: () => running,
    space() {
      const { backup } = parts.config();
      return backup === null || freeBytes === null ? null : { path: backup.directory, freeBytes };
    },
    status() {
      const { backup } = parts.config();
      if (backup === null) return null;
      const last = readFact(store, "last backup");
      const [problem] = problems.values();
      const follows = followedMs !== null || readFact(store, "backup directory")?.standby === true;
      return {
        directory: backup.directory,
        running,
        last: last === null ? null : { ...last, at: isoTime(last.at) },
        log: logAtMs === null ? null : { at: isoTime(logAtMs), lagMs },
        standby: follows ? { at: followedMs === null ? null : isoTime(followedMs) } : null,
        drill: shownDrill(lastDrill(paths)),
        problem: problem === undefined ? null : inOurs(problem),
      };
    },
  };
}

/** Of a report, what a status tells. */
function shownDrill(report: DrillStatus | null): DrillStatus | null {
  if (report === null) return null;
  const { backup, at, passed, rpoMs, rtoMs, reason } = report;
  return { backup, at, passed, rpoMs, rtoMs, reason };
}
