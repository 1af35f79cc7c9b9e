// What --plan says of an update or rollback before it is begun: each step with what it does and how long at most, and
// what a way back would cost. Pure.

import { formatSize } from "../../config/units.ts";
import type { Text } from "./text/text.ts";
import type { CourseStep } from "./update-course.ts";
import type { UpdatePlanned } from "./update-plan.ts";

export interface PlanFacts {
  readonly from: string;
  readonly to: string;
  /** False: the services are a team's own. */
  readonly bundled: boolean;
  readonly workers: number;
  readonly graceMs: number;
  readonly confirmMs: number;
  readonly databaseBytes: number | null;
  /** Time in which pages answer 503, at most; 0: they are served throughout. */
  readonly closedMs: number;
  /** How the copy is taken: the server's files while it rests, or pg_dump of a team's own server. */
  readonly managed: boolean;
}

/** Whole seconds, rounded up: figures of a plan are bounds. */
function atMost(ms: number, text: Text): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return text.seconds(seconds);
  const minutes = text.minutes(Math.floor(seconds / 60));
  const rest = seconds % 60;
  return rest === 0 ? minutes : `${minutes} ${text.seconds(rest)}`;
}

/** What `step` does, for its line of the plan; empty where its name says all. */
export function stepNote(step: CourseStep, plan: UpdatePlanned | null, facts: PlanFacts, text: Text): string {
  const { to, workers } = facts;
  const { steps } = text.update;
  const grace = atMost(facts.graceMs, text);
  const pending = plan?.pending.join(", ") ?? "";
  switch (step) {
    case "stage":
      return steps.stage(to);
    case "preflight":
      return steps.preflight;
    case "compare":
      return steps.compare;
    case "migrate":
      return pending === "" ? steps.migrateNone : steps.migrate(pending);
    case "drain":
      return steps.drain(workers, grace);
    case "close":
      return steps.close(grace);
    case "copy":
      return `${facts.managed ? steps.copyFiles : steps.copyDump}${ofSize(facts, text)}`;
    case "migrateClosed":
      return steps.migrateClosed(pending);
    case "restore":
      return steps.restore;
    case "replace":
      return facts.closedMs > 0 ? steps.replaceClosed(to) : steps.replace;
    case "confirm":
      return steps.confirm(atMost(facts.confirmMs, text));
    case "switch":
      return facts.bundled ? steps.switch(to) : steps.switchOwn(to);
    case "trial":
      return steps.trial;
    case "prune":
      return steps.prune;
    default:
      return "";
  }
}

function ofSize({ databaseBytes }: PlanFacts, text: Text): string {
  return databaseBytes === null ? "" : text.update.steps.copySize(formatSize(databaseBytes));
}

/** The sentences below the steps of an update. */
export function updateNotes(plan: UpdatePlanned, facts: PlanFacts, text: Text): string[] {
  const t = text.update;
  const notes = [t.fromTo(facts.from, facts.to)];
  if (!facts.bundled) return [...notes, t.ownServices, t.ownWayBack];
  notes.push(
    plan.workers === "overlap"
      ? t.overlap
      : t.drainFirst(text.list(plan.reasons), atMost(plan.worstWithoutWorkersMs, text)),
  );
  if (plan.newFormats) notes.push(t.newFormat);
  if (plan.queueMigration) notes.push(t.queueSchema);
  if (facts.closedMs === 0) return [...notes, t.served, t.codeBack];
  return [...notes, t.closed(atMost(facts.closedMs, text)), t.copyBack(atMost(facts.confirmMs, text))];
}

/** The sentences below the steps of a rollback. `lost`: what was written since the copy to restore; null: code only. */
export function rollbackNotes(
  facts: Pick<PlanFacts, "from" | "to" | "bundled" | "closedMs">,
  lost: { readonly count: number; readonly firstAt: string | null; readonly lastAt: string | null } | null,
  newerJobs: number,
  text: Text,
): string[] {
  const t = text.rollback;
  const notes = [t.backTo(facts.from, facts.to)];
  if (!facts.bundled) return [...notes, t.ownServices];
  if (lost === null) return [...notes, t.codeOnly, ...(newerJobs > 0 ? [t.newerJobs(newerJobs)] : [])];
  return [
    ...notes,
    t.restores(atMost(facts.closedMs, text)),
    lost.count === 0 ? t.nothingLost : t.lost(lost.count, lost.firstAt, lost.lastAt),
  ];
}

/** Lines of the new release's preflight that an administrator should know of: what would refuse the update first. */
export function preflightNotes(
  lines: readonly {
    readonly check: string;
    readonly verdict: string;
    readonly found: string;
    readonly command: string;
  }[],
  text: Text,
): string[] {
  const told = (verdict: string, say: Text["update"]["warnedBy"]): string[] =>
    lines
      // Which migrations wait is what the plan itself tells.
      .filter((line) => line.verdict === verdict && (verdict === "FAIL" || line.check !== "migrations"))
      .map(({ check, found, command }) => say(check, found.replace(/\.$/, ""), command));
  return [...told("FAIL", text.update.refusedBy), ...told("WARN", text.update.warnedBy)];
}
