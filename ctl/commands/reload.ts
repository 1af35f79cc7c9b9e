// `owlctl reload`: owld reads its configuration again; a file with an error changes nothing (exit 78).

import type { Command } from "commander";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

interface Options {
  readonly plan?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("reload")
    .description(text.commands.reload.about)
    .option("--plan", text.commands.restart.plan)
    .option("--detach", text.help.detach)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl config check && owlctl reload", "owlctl reload --plan"]))
    .action(
      deps.run((options: Options) =>
        changeCommand({ path: ROUTES.reload, planPath: ROUTES.planReload, body: {} }, options, deps),
      ),
    );
}
