// `owlctl preflight`: read-only checks, each with the command a person can run; FAIL ends it with 1.

import type { Command } from "commander";
import { EXIT, type PreflightLine } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { pad } from "../render/width.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("preflight")
    .description(text.commands.preflight.about)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl preflight", "owlctl preflight --json"]))
    .action(deps.run((options: { json?: boolean }) => preflight(options, deps)));
}

async function preflight(options: { json?: boolean }, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const lines = await deps.client().get<PreflightLine[]>(ROUTES.preflight);
  const count = (verdict: PreflightLine["verdict"]) => lines.filter((line) => line.verdict === verdict).length;
  if (options.json) terminal.out(JSON.stringify(lines));
  else {
    for (const line of lines) {
      const colour = line.verdict === "OK" ? "green" : line.verdict === "WARN" ? "yellow" : "red";
      terminal.out(
        `${terminal.paintOut(pad(line.verdict, 4), colour)}  ${terminal.paintOut(line.check, "bold")}  ${line.found}`,
      );
      if (line.verdict !== "OK") terminal.out(`      ${line.why}`);
      terminal.out(terminal.paintOut(`      $ ${line.command}`, "dim"));
    }
    terminal.out(text.commands.preflight.sum(count("OK"), count("WARN"), count("FAIL")));
  }
  return count("FAIL") > 0 ? EXIT.failed : EXIT.done;
}
