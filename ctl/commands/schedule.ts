// `owlctl schedule list|run|pause|resume`: what the bundled application runs by the clock, through owld to a web instance.

import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

interface Schedule {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly cron: string;
  readonly zone: string;
  readonly paused: boolean;
  readonly nextAt: string | null;
  readonly failuresInRow: number;
}

interface Ran {
  readonly turnId: string | null;
  readonly runId: string | null;
}

interface Options {
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.schedule;
  const schedule = program
    .command("schedule")
    .description(t.about)
    .addHelpText(
      "after",
      text.examples(["owlctl schedule list", "owlctl schedule run ID", "owlctl schedule pause ID"]),
    );
  schedule
    .command("list")
    .description(t.list)
    .option("--json", text.help.json)
    .action(deps.run((options: Options) => list(options, deps)));
  for (const verb of ["run", "pause", "resume"] as const) {
    schedule
      .command(verb)
      .description(t[verb])
      .argument("<id>", t.id)
      .option("--json", text.help.json)
      .action(deps.run((id: string, options: Options) => act(verb, id, options, deps)));
  }
}

async function list(options: Options, { client, terminal, text }: CommandDeps): Promise<number> {
  const t = text.commands.schedule;
  const { items } = await client().get<{ items: readonly Schedule[] }>(ROUTES.app("/schedules"));
  if (options.json) terminal.out(JSON.stringify(items));
  else {
    const rows = items.map((one) => [
      one.id,
      one.user,
      one.name,
      `${one.cron} ${one.zone}`,
      one.paused ? t.paused : (one.nextAt ?? t.never),
      String(one.failuresInRow),
    ]);
    for (const line of table(t.columns, rows, terminal.paintOut)) terminal.out(line);
  }
  return EXIT.done;
}

async function act(
  verb: "run" | "pause" | "resume",
  id: string,
  options: Options,
  { client, terminal, text }: CommandDeps,
): Promise<number> {
  const t = text.commands.schedule;
  const answer = await client().send<Ran & Schedule>(
    "POST",
    ROUTES.app(`/schedules/${encodeURIComponent(id)}/${verb}`),
    {},
  );
  if (options.json) terminal.out(JSON.stringify(answer));
  else if (verb === "run") terminal.out(t.ran(answer.turnId ?? answer.runId ?? ""));
  else if (verb === "pause") terminal.out(t.pausedNow(answer.name));
  else terminal.out(t.resumed(answer.name, answer.nextAt ?? t.never));
  return EXIT.done;
}
