// `owlctl status` for people: state, proxy, services with their instances, connections, workers, rollout, warnings. Pure.

import type {
  BackupStatus,
  InstanceStatus,
  LastExit,
  Rollout,
  ServiceStatus,
  Status,
} from "../../config/control-api.ts";
import type { Text } from "../text/text.ts";
import { age, bytes, elapsed, percent } from "./figures.ts";
import { table } from "./table.ts";
import type { Colour, Paint } from "./terminal.ts";

export interface StatusContext {
  readonly text: Text;
  readonly paint: Paint;
  /** Wall time, for ages. */
  readonly nowMs: number;
}

/** The lines of the status screen. */
export function statusLines(status: Status, context: StatusContext): string[] {
  const { text, paint, nowMs } = context;
  const t = text.status;
  const up = age(nowMs - Date.parse(status.startedAt));
  const lines = [
    `${paint("owl", "bold")} ${status.version}  ${paint(text.states[status.state], stateColour(status.state))}  ${t.pid} ${status.pid}  ${t.up} ${up}  ${t.release} ${status.release.version}`,
    proxyLine(status, context),
    ...certificateLines(status, context),
    "",
    ...serviceLines(status.services, context),
    ...scheduleLines(status.services, context),
  ];
  if (status.connections !== null) {
    const c = status.connections;
    const verdict = paint(
      c.verdict.toUpperCase(),
      c.verdict === "ok" ? "green" : c.verdict === "warn" ? "yellow" : "red",
    );
    lines.push("", `${paint(t.connections, "bold")}  ${verdict}  ${t.connectionFigures(c)}`);
    const strangers = Object.entries(c.byApplication ?? {}).filter(([name]) => !name.startsWith("owl/"));
    if (strangers.length > 0)
      lines.push(
        paint(`  ${t.strangers(strangers.map(([name, count]) => `${name || "?"} ${count}`).join(", "))}`, "dim"),
      );
  }
  if (status.workers !== null) {
    lines.push("", paint(t.workers, "bold"));
    if (status.workers.length === 0) lines.push(`  ${t.noWorkers}`);
    for (const worker of status.workers) {
      const jobs = Object.entries(worker.jobs).map(([kind, count]) => `${kind} ${count}`);
      const colour = worker.state === "active" ? "green" : worker.state === "draining" ? "yellow" : "red";
      const beat = t.heartbeat(elapsed(worker.heartbeatAgeMs));
      lines.push(
        `  ${worker.id}  ${paint(text.workerStates[worker.state], colour)}  ${beat}  ${jobs.join(", ") || t.noJobs}`,
      );
    }
  }
  if (status.backup !== undefined) lines.push("", backupLine(status.backup, context));
  if (status.rollout !== null) lines.push("", ...rolloutLines(status.rollout, context));
  for (const warning of status.warnings ?? []) lines.push("", paint(`! ${warning}`, "yellow"));
  return lines;
}

function backupLine(backup: BackupStatus | null, { text, paint, nowMs }: StatusContext): string {
  const t = text.status;
  if (backup === null) return `${paint(t.backup, "bold")}  ${paint(t.backupNone, "dim")}`;
  const ago = (at: string) => age(Math.max(0, nowMs - Date.parse(at)));
  const { last, log, standby, drill } = backup;
  const proof =
    drill === null
      ? t.backupUnproven
      : drill.passed
        ? t.backupProven(ago(drill.at), elapsed(drill.rtoMs ?? 0))
        : t.backupFailed(ago(drill.at));
  const parts = [
    last === null ? t.backupNotYet : t.backupLast(ago(last.at)),
    log && t.backupLog(ago(log.at)),
    standby ? (standby.at === null ? t.standbyUnheard : t.standbyAt(ago(standby.at))) : null,
    proof,
  ];
  return `${paint(t.backup, "bold")}  ${backup.directory}  ${parts.filter((part) => part !== null).join("  ")}`;
}

function proxyLine(status: Status, { text, paint }: StatusContext): string {
  const { proxy } = status;
  const processes = proxy.processes.map((one) => `${one.id} ${one.state} (${text.status.pid} ${one.pid})`).join(", ");
  return `${paint(text.status.proxy, "bold")}  ${proxy.listen.join(", ") || "-"}  ${processes}  ${text.status.proxyFigures(proxy)}`;
}

function certificateLines(status: Status, { text: { status: t }, paint }: StatusContext): string[] {
  const certificate = status.proxy.certificate ?? null;
  if (certificate === null) return [];
  const { standIn, until, renewal } = certificate;
  const day = (at: string): string => at.slice(0, 16).replace("T", " ");
  const said = until === null ? t.certificateUnusable : standIn ? t.certificateStandIn : t.certificateUntil(day(until));
  const next = renewal === null ? "" : t.certificateNext(day(renewal.nextAt));
  return [`${paint(t.certificate, "bold")}  ${said}${next}`];
}

function serviceLines(services: readonly ServiceStatus[], context: StatusContext): string[] {
  const { text, paint } = context;
  const t = text.status;
  const rows: string[][] = [];
  const steady = services.filter(({ schedule }) => schedule === undefined);
  if (steady.length === 0) return [];
  for (const service of steady) {
    const count = paint(`${service.ready}/${service.replicas}`, service.ready >= service.replicas ? "green" : "yellow");
    const flags = [
      service.wanted === "down" ? t.stoppedFlag : "",
      service.scaledFrom === undefined ? "" : paint(t.scaledFlag(service.scaledFrom), "yellow"),
      service.crashLooping ? paint(t.crashLooping, "red") : "",
    ];
    const release = service.release === undefined ? "" : paint(t.ofRelease(service.release), "dim");
    const name = [paint(service.name, "bold"), count, release, ...flags].filter((part) => part !== "").join(" ");
    if (service.instances.length === 0) rows.push([name, "-", "-", "-", "-", "-", "-", "-", "-", "-"]);
    for (const [index, instance] of service.instances.entries())
      rows.push([index === 0 ? name : "", ...instanceCells(instance, context)]);
  }
  const columns = [
    t.columns.service,
    t.columns.instance,
    t.columns.state,
    { title: t.columns.pid, align: "right" },
    { title: t.columns.up, align: "right" },
    { title: t.columns.inFlight, align: "right" },
    { title: t.columns.memory, align: "right" },
    { title: t.columns.cpu, align: "right" },
    { title: t.columns.restarts, align: "right" },
    t.columns.lastExit,
  ] as const;
  return table(columns, rows, paint);
}

/** Those that run by a schedule: next, now, last. */
function scheduleLines(services: readonly ServiceStatus[], { text, paint, nowMs }: StatusContext): string[] {
  const t = text.status;
  const ago = (at: string): string => age(Math.max(0, nowMs - Date.parse(at)));
  const lines = services.flatMap(({ name, wanted, release, schedule }) => {
    if (schedule === undefined) return [];
    const { cron, zone, nextAt, running, last } = schedule;
    const next =
      wanted === "down" ? t.stoppedFlag : nextAt === null ? t.neverDue : t.due(nextAt.slice(0, 16).replace("T", " "));
    const took = (run: NonNullable<typeof last>): string =>
      elapsed(Date.parse(run.endedAt) - Date.parse(run.startedAt));
    const parts = [
      paint(name, "bold"),
      ...(release === undefined ? [] : [paint(t.ofRelease(release), "dim")]),
      paint(`${cron} ${zone}`, "dim"),
      next,
      ...(running === null ? [] : [paint(t.runs(running.id, running.pid, ago(running.startedAt)), "cyan")]),
      ...(last === null
        ? []
        : [
            paint(
              t.ran(last.id, t.runEnds[last.outcome], `${last.how}, ${took(last)}`, ago(last.endedAt)),
              last.outcome === "succeeded" ? "green" : "red",
            ),
          ]),
    ];
    return [`  ${parts.join("  ")}`];
  });
  return lines.length === 0 ? [] : ["", paint(t.schedules, "bold"), ...lines];
}

export function instanceCells(instance: InstanceStatus, { text, paint, nowMs }: StatusContext): string[] {
  return [
    instance.id,
    paint(text.instanceStates[instance.state], instanceColour(instance.state)),
    instance.pid === null ? "-" : String(instance.pid),
    instance.startedAt === null ? "-" : age(nowMs - Date.parse(instance.startedAt)),
    String(instance.inFlight),
    bytes(instance.rssBytes),
    percent(instance.cpu),
    String(instance.restarts),
    instance.lastExit === null ? "-" : exitText(instance.lastExit, text, nowMs),
  ];
}

/** `code 1, 5m ago`, `SIGKILL (likely out of memory), 3s ago`. */
export function exitText(exit: LastExit, text: Text, nowMs: number): string {
  const when = text.status.ago(age(nowMs - Date.parse(exit.at)));
  if (!exit.known) return `${text.status.exitUnknown}, ${when}`;
  const how = exit.signal ?? (exit.code === null ? text.status.neverStarted : text.status.exitCode(exit.code));
  return `${how}${exit.outOfMemory === "likely" ? ` (${text.status.outOfMemory})` : ""}, ${when}`;
}

/** A rollout in a few lines: headline, then the steps that run or failed. */
function rolloutLines(rollout: Rollout, { text, paint, nowMs }: StatusContext): string[] {
  const done = rollout.steps.filter((step) => ["done", "skipped"].includes(step.state)).length;
  const end = rollout.endedAt === null ? nowMs : Date.parse(rollout.endedAt);
  const state = paint(text.rollout.states[rollout.state], rolloutColour(rollout.state));
  const steps = text.rollout.steps(done, rollout.steps.length);
  const lines = [
    `${paint(`${text.rollout.kinds[rollout.kind]} ${rollout.id}`, "bold")}  ${state}  ${elapsed(end - Date.parse(rollout.startedAt))}  ${steps}`,
  ];
  if (rollout.reason !== null) lines.push(...rollout.reason.split("\n").map((line) => `  ${line}`));
  for (const step of rollout.steps.filter((one) => one.state === "running")) {
    lines.push(
      `  ${step.n}. ${step.service} ${text.rollout.action(step.action)} ${step.instance ?? ""} ${paint(elapsed(step.elapsedMs), "dim")}`,
    );
  }
  return lines;
}

export function stateColour(state: Status["state"]): Colour {
  return state === "steady" ? "green" : state === "degraded" ? "red" : "yellow";
}

function instanceColour(state: InstanceStatus["state"]): Colour {
  if (state === "ready") return "green";
  if (state === "unhealthy" || state === "backoff") return "red";
  return state === "exited" ? "dim" : "yellow";
}

export function rolloutColour(state: Rollout["state"]): Colour {
  return state === "succeeded" ? "green" : state === "running" ? "cyan" : state === "failed" ? "red" : "yellow";
}
