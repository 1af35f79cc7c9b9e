// `owlctl top`: every process of Owl's services on one screen, what works hardest first. Pure.

import type { Status } from "../../config/control-api.ts";
import { bytes, percent } from "./figures.ts";
import { instanceCells, type StatusContext, stateColour } from "./status-view.ts";
import { table } from "./table.ts";

export function topLines(status: Status, requestsPerS: number, context: StatusContext): string[] {
  const { text, paint } = context;
  const t = text.status;
  const instances = status.services.flatMap((one) => one.instances);
  const sum = (of: (one: (typeof instances)[number]) => number): number =>
    instances.reduce((total, one) => total + of(one), 0);
  const head = [
    paint("owl", "bold"),
    paint(text.states[status.state], stateColour(status.state)),
    text.top.figures(Math.max(0, Math.round(requestsPerS)), status.proxy.inFlight),
    `${t.columns.memory} ${bytes(sum(({ rssBytes }) => rssBytes))}`,
    `${t.columns.cpu} ${percent(sum(({ cpu }) => cpu))}`,
  ];
  const right = (title: string) => ({ title, align: "right" }) as const;
  const { instance, state, pid, up, inFlight, memory, cpu, restarts, lastExit } = t.columns;
  const columns = [instance, state, ...[pid, up, inFlight, memory, cpu, restarts].map(right), lastExit];
  const rows = instances.toSorted((a, b) => b.cpu - a.cpu || b.rssBytes - a.rssBytes);
  return [
    head.join("  "),
    "",
    ...table(
      columns,
      rows.map((one) => instanceCells(one, context)),
      paint,
    ),
  ];
}
