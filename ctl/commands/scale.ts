// `owlctl scale web=3 worker=2`: how many instances a service has, kept until owl.yaml's own number changes.

import type { Command } from "commander";
import { pairArgument } from "../arguments.ts";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

interface Options {
  readonly plan?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("scale")
    .description(text.commands.scale.about)
    .argument("<service=n...>", text.commands.scale.pairs, pairArgument(text))
    .option("--plan", text.commands.restart.plan)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl scale web=3", "owlctl scale web=3 worker=4 --plan"]))
    .action(
      deps.run((wanted: Record<string, number>, options: Options) =>
        changeCommand({ path: ROUTES.scale, planPath: ROUTES.planScale, body: wanted }, options, deps),
      ),
    );
}
