// What --plan says of an update or rollback before it is begun: each step with what it does and how long at most, and
// what a way back would cost. Pure.

import { formatSize } from "../../config/units.ts";
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
function atMost(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return rest === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${rest} s`;
}

/** What `step` does, for its line of the plan; empty where its name says all. */
export function stepNote(step: CourseStep, plan: UpdatePlanned | null, facts: PlanFacts): string {
  const { to, graceMs, workers } = facts;
  switch (step) {
    case "stage":
      return `${to} is unpacked and verified already`;
    case "preflight":
      return "checks by the running and by the new code; one FAIL ends it here, nothing changed";
    case "compare":
      return "done for this plan; done again then";
    case "migrate":
      return plan === null || plan.pending.length === 0
        ? "no migration; the new release's job queues are put in place"
        : `${plan.pending.join(", ")}, in one transaction beside the running processes`;
    case "drain":
      return `${workers} ${workers === 1 ? "worker" : "workers"} asked to stop at once, each within ${atMost(graceMs)}`;
    case "close":
      return `pages answer 503; web stops within ${atMost(graceMs)}`;
    case "copy":
      return facts.managed
        ? `PostgreSQL rests while its files are copied and verified${ofSize(facts)}`
        : `pg_dump of Owl's schemas, read back before it counts${ofSize(facts)}`;
    case "migrateClosed":
      return `${plan?.pending.join(", ") || "the queue's own schema"}; nothing runs meanwhile`;
    case "restore":
      return "the older copy is put back; jobs it holds are ended or put in line by their kind's rule";
    case "replace":
      return facts.closedMs > 0
        ? `web and workers of ${to} start; pages are served again`
        : "web one by one, the new one first; workers start";
    case "confirm":
      return `health and heartbeats for ${atMost(facts.confirmMs)}, then one request through the proxy`;
    case "switch":
      return facts.bundled ? `current points to ${to}` : `current points to ${to}; your services are not touched`;
    case "prune":
      return "older releases beyond three go; then owld itself starts again, and the proxy when its code changed";
    default:
      return "";
  }
}

function ofSize({ databaseBytes }: PlanFacts): string {
  return databaseBytes === null
    ? ""
    : ` (the data: ${formatSize(databaseBytes)}; so much free disk and some more is needed)`;
}

/** The sentences below the steps of an update. */
export function updateNotes(plan: UpdatePlanned, facts: PlanFacts): string[] {
  const notes = [`${facts.from} to ${facts.to}.`];
  if (!facts.bundled)
    return [
      ...notes,
      "Owl itself is updated: owld, its proxy, owlctl. Your services run on, untouched; their own code is yours to replace (owlctl restart).",
      "No downtime: the proxy hands its listening socket on. The way back: owlctl rollback.",
    ];
  if (plan.workers === "overlap") notes.push("Old and new workers overlap: nothing about jobs changed.");
  else
    notes.push(
      `Workers drain first (${plan.reasons.join("; ")}): at most ${atMost(plan.worstWithoutWorkersMs)} without a worker. Turns asked meanwhile wait in line; a running one that does not end in time is closed with its message.`,
    );
  if (plan.reasons.some((reason) => reason.includes("has format")))
    notes.push(
      "Jobs of the new format are run by the new release alone: should it be taken back, turns among them are closed at their claim limit and other work waits for it.",
    );
  if (plan.queueMigration) notes.push("The queue's own schema changes, which counts as incompatible.");
  if (facts.closedMs === 0) {
    notes.push("No downtime: pages are served throughout.");
    notes.push(
      "The way back, by itself when it fails or later by owlctl rollback: the old code alone. Nothing is lost.",
    );
    return notes;
  }
  notes.push(`Pages answer 503 for at most ${atMost(facts.closedMs)}.`);
  notes.push(
    `The way back is the copy: should it fail by itself, what was written since the copy is lost (pages are closed until the new web serves, so only what it took in its first ${atMost(facts.confirmMs)}); by hand later, everything written since. owlctl rollback --plan counts it. Jobs the copy holds are ended by their kind's rule, none is run twice.`,
  );
  return notes;
}

/** The sentences below the steps of a rollback. `lost`: what was written since the copy to restore; null: code only. */
export function rollbackNotes(
  facts: Pick<PlanFacts, "from" | "to" | "bundled" | "closedMs">,
  lost: { readonly count: number; readonly firstAt: string | null; readonly lastAt: string | null } | null,
  newerJobs: number,
): string[] {
  const notes = [`${facts.from} back to ${facts.to}.`];
  if (!facts.bundled) return [...notes, "Owl itself goes back; your services run on, untouched."];
  if (lost === null) notes.push("Code only: the older release can live with the database of now. Nothing is lost.");
  else
    notes.push(
      `The older release cannot live with the database of now: pages answer 503 for at most ${atMost(facts.closedMs)} while the copy taken before the update is put back (a copy of now is taken first).`,
      lost.count === 0
        ? "Nothing was written since that copy."
        : `${lost.count} writes since that copy are lost, from ${lost.firstAt} to ${lost.lastAt}.`,
    );
  if (newerJobs > 0 && lost === null) notes.push(newerJobsNote(newerJobs));
  return notes;
}

/** What becomes of `count` waiting jobs whose format the older release does not know. */
export function newerJobsNote(count: number): string {
  return `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format the older release does not know: turns among them are closed at their claim limit, the others wait until a release that knows them runs again.`;
}

/** Lines of the new release's preflight that an administrator should know of: what would refuse the update first. */
export function preflightNotes(
  lines: readonly {
    readonly check: string;
    readonly verdict: string;
    readonly found: string;
    readonly command: string;
  }[],
): string[] {
  const told = (verdict: string, before: string): string[] =>
    lines
      // Which migrations wait is what the plan itself tells.
      .filter((line) => line.verdict === verdict && (verdict === "FAIL" || line.check !== "migrations"))
      .map(({ check, found, command }) => `${before} ${check}: ${found.replace(/\.$/, "")}. Try: ${command}`);
  return [...told("FAIL", "It would be refused by preflight,"), ...told("WARN", "Preflight warns,")];
}
