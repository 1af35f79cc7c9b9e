// `owlctl why SERVICE|INSTANCE`: one screen on why it is as it is.

import type { Command } from "commander";
import type { Why } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { whyLines } from "../render/why-view.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("why")
    .description(text.commands.why.about)
    .argument("<target>", text.help.target)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl why web", "owlctl why worker-3"]))
    .action(
      deps.run(async (target: string, options: { json?: boolean }) => {
        const { terminal, clock, client } = deps;
        const why = await client().get<Why>(ROUTES.why(target));
        if (options.json) terminal.out(JSON.stringify(why));
        else
          for (const line of whyLines(why, { text, paint: terminal.paintOut, nowMs: clock.now() })) terminal.out(line);
        return undefined;
      }),
    );
}
