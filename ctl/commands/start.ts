// `owlctl start SERVICE|INSTANCE`: wanted up again.

import type { Command } from "commander";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("start")
    .description(text.commands.start.about)
    .argument("<target>", text.help.target)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl start worker", "owlctl start web-7"]))
    .action(
      deps.run((target: string, options: { json?: boolean }) =>
        changeCommand({ path: ROUTES.start(target) }, options, deps),
      ),
    );
}
