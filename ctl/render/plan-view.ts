// What `--plan` prints: the steps in order, the expected and the worst time, the peaks. Pure.

import type { RolloutPlan } from "../../config/control-api.ts";
import type { Text } from "../text/text.ts";
import { bytes, elapsed } from "./figures.ts";
import { table } from "./table.ts";
import type { Paint } from "./terminal.ts";

export function planLines(plan: RolloutPlan, text: Text, paint: Paint): string[] {
  const notes = plan.notes.map((note) => `- ${note}`);
  if (!plan.changes) return [text.plan.nothing, ...notes];
  const rows = plan.steps.map((step, index) => [
    String(index + 1),
    step.service,
    text.rollout.action(step.action),
    step.instance ?? "",
    step.note ?? "",
  ]);
  const columns = [
    { title: "#", align: "right" },
    text.plan.service,
    text.plan.action,
    text.plan.instance,
    "",
  ] as const;
  const lines = [...table(columns, rows, paint), "", text.plan.time(elapsed(plan.expectedMs), elapsed(plan.worstMs))];
  if (plan.peakConnections !== null) lines.push(text.plan.connections(plan.peakConnections, plan.connectionLimit));
  if (plan.peakMemoryBytes !== null) lines.push(text.plan.memory(bytes(plan.peakMemoryBytes)));
  return [...lines, ...notes];
}
