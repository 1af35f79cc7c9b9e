// `owlctl run SERVICE -- CMD` and `owlctl exec SERVICE|INSTANCE -- CMD`: a program in a service's environment, once.
// owld runs it and passes on what it says; it reads nothing; Ctrl-C ends it. `owlctl run SERVICE` alone: one that has a
// schedule runs now, and goes on after a Ctrl-C.

import { constants } from "node:os";
import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import type { RunLine, RunRequest } from "../../config/deploy-api.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  add(program, deps, "run", ["owlctl run web -- node migrate.js", "owlctl run nightly"]);
}

/** The command `name`, under which either of the two files adds it. */
export function add(program: Command, deps: CommandDeps, name: "run" | "exec", examples: readonly string[]): void {
  const { text } = deps;
  const t = text.commands[name];
  program
    .command(name)
    .description(t.about)
    .argument(name === "run" ? "<service>" : "<target>", name === "run" ? text.help.service : text.help.target)
    .argument(name === "run" ? "[command...]" : "<command...>", text.commands.run.command)
    .addHelpText("after", text.examples(examples))
    .action(
      deps.run((target: string, command: string[]) => run({ target, command, inInstance: name === "exec" }, deps)),
    );
}

async function run(request: RunRequest, { client, signal, terminal }: CommandDeps): Promise<number> {
  for await (const line of client().lines<RunLine>(ROUTES.run, signal, request)) {
    if ("exit" in line) return exitCodeOf(line.exit);
    if (line.stream === "stdout") terminal.rawOut(line.text);
    else terminal.rawErr(line.text);
  }
  return signal.aborted ? EXIT.interrupted : EXIT.failed;
}

/** As a shell has it: its own, or 128 and the signal's number. */
function exitCodeOf({ code, signal }: { readonly code: number | null; readonly signal: string | null }): number {
  if (code !== null) return code;
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
