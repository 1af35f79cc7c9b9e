// How a rollout ended, with what it cost: one line, the reason when there is one, the ledger. Pure.

import type { Rollout, RolloutLedger } from "../../config/control-api.ts";
import type { Text } from "../text/text.ts";
import { elapsed } from "./figures.ts";
import { rolloutColour } from "./status-view.ts";
import type { Paint } from "./terminal.ts";

/** `serving`: one that still runs was waited for until its new instances serve. */
export function rolloutEndLines(rollout: Rollout, text: Text, paint: Paint, serving = false): string[] {
  const tookMs = rollout.endedAt === null ? null : Date.parse(rollout.endedAt) - Date.parse(rollout.startedAt);
  const took = tookMs === null ? "" : ` ${text.rollout.took(elapsed(tookMs))}`;
  const state = serving && rollout.state === "running" ? text.rollout.serving : text.rollout.states[rollout.state];
  const lines = [
    `${paint(`${text.rollout.kinds[rollout.kind]} ${rollout.id}`, "bold")} ${paint(state, rolloutColour(rollout.state))}${took}`,
  ];
  if (rollout.reason !== null) lines.push(...rollout.reason.split("\n").map((line) => `  ${line}`));
  if (rollout.ledger) lines.push(`  ${ledgerText(rollout.ledger, text)}`);
  return lines;
}

/** `lost 0, retried 3, drained 41, longest 12.4s, …`: requests always, the others when there were any. */
function ledgerText(ledger: RolloutLedger, text: Text): string {
  const always = ["requestsFailed", "retriedAtConnect", "drainedInFlight"] as const;
  const whenAny = [
    "streamsMoved",
    "jobsFinished",
    "jobsHandedBack",
    "jobsCut",
    "jobsReclaimed",
    "instancesKilled",
  ] as const;
  const parts = always.map((key) => text.ledger[key](ledger[key]));
  if (ledger.longestDrainMs > 0) parts.push(text.ledger.longestDrain(elapsed(ledger.longestDrainMs)));
  for (const key of whenAny) if (ledger[key] > 0) parts.push(text.ledger[key](ledger[key]));
  return parts.join(", ");
}
