// The screen of `owlctl why`: the answer first, then for each instance the facts it was drawn from. Pure.

import type { Why, WhyInstance } from "../../config/control-api.ts";
import { age, elapsed } from "./figures.ts";
import { exitText, type StatusContext } from "./status-view.ts";

export function whyLines(why: Why, context: StatusContext): string[] {
  const { paint } = context;
  const lines = [paint(why.target, "bold"), ...why.summary.map((sentence) => `  ${sentence}`)];
  for (const instance of why.instances) lines.push("", ...instanceLines(instance, context));
  return lines;
}

function instanceLines(one: WhyInstance, context: StatusContext): string[] {
  const { text, paint, nowMs } = context;
  const t = text.why;
  const fact = (name: string, value: string) => `  ${paint(`${name}:`, "dim")} ${value}`;
  const lines = [
    `${paint(one.id, "bold")}  ${text.instanceStates[one.state]}${one.wanted === "down" ? ` (${t.wantedDown})` : ""}`,
  ];
  if (one.pid !== null)
    lines.push(
      fact(
        t.process,
        `${text.status.pid} ${one.pid}${one.startedAt === null ? "" : `, ${text.status.up} ${age(nowMs - Date.parse(one.startedAt))}`}`,
      ),
    );
  if (one.lastExit !== null) lines.push(fact(t.lastExit, exitText(one.lastExit, text, nowMs)));
  if (one.lastProbe !== null) {
    const probe = one.lastProbe;
    const what = probe.error ?? `${probe.status ?? ""} ${probe.body.trim().split("\n")[0] ?? ""}`.trim();
    lines.push(
      fact(
        t.lastProbe,
        `${probe.ok ? t.passed : paint(t.failed, "red")} ${text.status.ago(age(nowMs - Date.parse(probe.at)))}${what === "" ? "" : `: ${what}`}`,
      ),
    );
  }
  if (one.heartbeatAgeMs !== null) lines.push(fact(t.heartbeat, text.status.ago(elapsed(one.heartbeatAgeMs))));
  if (one.backoff !== null) {
    const next = Math.max(0, Date.parse(one.backoff.nextTryAt) - nowMs);
    lines.push(fact(t.backoff, t.backoffFigures(one.backoff.attempt, elapsed(one.backoff.delayMs), elapsed(next))));
  }
  if (one.restarts > 0) lines.push(fact(t.restarts, String(one.restarts)));
  for (const left of one.leftOver) lines.push(fact(t.leftOver, `${text.status.pid} ${left.pid} ${left.command}`));
  if (one.changedEnv.length > 0) lines.push(fact(t.changedEnv, one.changedEnv.join(", ")));
  if (one.log.length > 0) lines.push(fact(t.log, ""), ...one.log.map((line) => `    ${line}`));
  return lines;
}
