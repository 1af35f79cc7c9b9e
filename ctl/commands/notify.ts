// `owlctl notify test`: does a notification of owld's arrive?

import type { Command } from "commander";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.notify;
  program
    .command("notify")
    .description(t.about)
    .command("test")
    .description(t.test)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl notify test"]))
    .action(
      deps.run((options: { readonly json?: boolean }) => changeCommand({ path: ROUTES.notifyTest }, options, deps)),
    );
}
