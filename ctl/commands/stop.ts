// `owlctl stop SERVICE|INSTANCE`: drained with its whole grace and wanted down until started again.

import type { Command } from "commander";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("stop")
    .description(text.commands.stop.about)
    .argument("<target>", text.help.target)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl stop worker", "owlctl stop web-7"]))
    .action(
      deps.run((target: string, options: { json?: boolean }) =>
        changeCommand({ path: ROUTES.stop(target) }, options, deps),
      ),
    );
}
