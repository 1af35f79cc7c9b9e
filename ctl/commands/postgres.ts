// `owlctl postgres upgrade`: the managed database into the next major version, while owld is stopped. Exit 0: done;
// 10: --plan told what it would do.

import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { locateHome } from "../../config/locate.ts";
import { formatSize } from "../../config/units.ts";
import { askBackups } from "../backup-program.ts";
import type { CommandDeps } from "../deps.ts";
import { elapsed } from "../render/figures.ts";
import type { Text } from "../text/text.ts";

interface Options {
  readonly to?: string;
  readonly plan?: boolean;
  readonly back?: boolean;
  readonly json?: boolean;
}

interface Plan {
  readonly from: string;
  readonly to: string;
  readonly way: "pg_upgrade" | "dump";
  readonly dataBytes: number;
  readonly neededBytes: number;
  readonly seconds: number;
  readonly former: string;
}

type Step = keyof Text["commands"]["postgres"]["steps"];

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.postgres;
  program
    .command("postgres")
    .description(t.about)
    .command("upgrade")
    .description(t.upgrade)
    .option("--to <major>", t.to)
    .option("--plan", t.plan)
    .option("--back", t.back)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl postgres upgrade --plan", "owlctl postgres upgrade --back"]))
    .action(deps.run((options: Options) => upgrade(options, deps)));
}

async function upgrade(options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal, text } = deps;
  const t = text.commands.postgres;
  const question = { home: locateHome(env, cwd), to: majorOf(options.to, deps) };
  const say = (step: Step) => terminal.err(t.steps[step]);
  if (options.back) {
    const gone = await askBackups<{ readonly from: number; readonly to: number; readonly former: string }, Step>(
      { ask: "goBack", ...question },
      deps,
      say,
    );
    terminal.out(options.json ? JSON.stringify(gone) : t.wentBack(gone.from, gone.to, gone.former));
    return EXIT.done;
  }
  if (options.plan) {
    const plan = await askBackups<Plan, Step>({ ask: "planUpgrade", ...question }, deps, () => undefined);
    const lines = [
      t.planned(plan.from, plan.to, t.ways[plan.way]),
      t.needs(formatSize(plan.dataBytes), formatSize(plan.neededBytes), elapsed(plan.seconds * 1_000)),
      t.wayBack(plan.former),
    ];
    for (const line of options.json ? [JSON.stringify(plan)] : lines) terminal.out(line);
    return EXIT.changes;
  }
  const done = await askBackups<Plan & { readonly elapsedMs: number }, Step>(
    { ask: "upgrade", ...question },
    deps,
    say,
  );
  const lines = [t.done(done.from, done.to, elapsed(done.elapsedMs)), t.wayBack(done.former), t.next];
  for (const line of options.json ? [JSON.stringify(done)] : lines) terminal.out(line);
  return EXIT.done;
}

function majorOf(to: string | undefined, { text }: CommandDeps): number | null {
  if (to === undefined) return null;
  if (/^\d{2}$/.test(to)) return Number(to);
  throw new OwlError("usage.major", text.commands.postgres.badMajor(to));
}
