// `owlctl turns`: measured lengths of turns, so that a team can choose its own turn.finish.

import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { elapsed } from "../render/figures.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

interface TurnFigures {
  readonly finishMs: number;
  readonly outcomes: readonly {
    readonly outcome: string;
    readonly count: number;
    readonly p50Ms: number;
    readonly p95Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
  }[];
}

const WEEK_MS = 7 * 86_400_000;

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.turns;
  program
    .command("turns")
    .description(t.about)
    .option("--since <duration>", t.since, durationArgument(text), WEEK_MS)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl turns", "owlctl turns --since 24h --json"]))
    .action(
      deps.run(async (options: { since: number; json?: boolean }) => {
        const { terminal, client } = deps;
        const figures = await client().get<TurnFigures>(ROUTES.app(`/turns?sinceMs=${options.since}`));
        if (options.json) terminal.out(JSON.stringify(figures));
        else for (const line of figureLines(figures, deps)) terminal.out(line);
        return EXIT.done;
      }),
    );
}

function figureLines(figures: TurnFigures, { text, terminal }: CommandDeps): string[] {
  const t = text.commands.turns;
  if (figures.outcomes.length === 0) return [t.none];
  const rows = figures.outcomes.map((one) => [
    one.outcome,
    String(one.count),
    ...[one.p50Ms, one.p95Ms, one.p99Ms, one.maxMs].map(elapsed),
  ]);
  const columns = t.columns.map((title, index) => (index === 0 ? title : { title, align: "right" as const }));
  const lines = table(columns, rows, terminal.paintOut);
  const answered = figures.outcomes.find((one) => one.outcome === "answered");
  if (answered === undefined) return lines;
  lines.push("", t.advice(elapsed(answered.p95Ms), elapsed(figures.finishMs)));
  if (answered.p95Ms > figures.finishMs) lines.push(terminal.paintOut(t.above, "yellow"));
  return lines;
}
