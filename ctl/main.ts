// owlctl: builds what commands need, imports the command that was asked for, turns its end into an exit code.

import { Command, CommanderError } from "commander";
import { EXIT } from "../config/control-api.ts";
import { environmentLanguage } from "../config/language.ts";
import { systemClock } from "../config/system-time.ts";
import { createClient } from "./client.ts";
import type { CommandDeps } from "./deps.ts";
import { errorLines, exitCodeOf, Interrupted } from "./exit-codes.ts";
import { findSocket } from "./find-socket.ts";
import { meantBy } from "./habits.ts";
import { COMMANDS, wantedCommand } from "./registry.ts";
import { processTerminal } from "./render/terminal.ts";
import { textOf } from "./text/text.ts";
import { codeVersion } from "./version.ts";

const env = process.env;
const language = environmentLanguage(env);
const text = textOf(language);
const terminal = processTerminal(env);
const interrupt = new AbortController();
let exitCode: number = EXIT.done;

// The first Ctrl-C ends the watching; a second one, should anything hang, ends the program.
process.on("SIGINT", () => {
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort(new Interrupted("Ctrl-C"));
});

function fail(error: unknown): void {
  exitCode = exitCodeOf(error);
  if (error instanceof Interrupted) {
    if (error.message !== "Ctrl-C") terminal.err(error.message);
    return;
  }
  const { sentence, next } = errorLines(error, text);
  terminal.err(terminal.paintErr(sentence, "red"));
  if (next !== null) terminal.err(next);
  if (env.OWL_DEBUG !== undefined && error instanceof Error) terminal.err(error.stack ?? "");
}

const program = new Command("owlctl")
  .description(text.help.program)
  .option("--socket <path>", text.help.socket)
  .version(codeVersion(), "-V, --version", text.help.version)
  .helpOption("-h, --help", text.help.help)
  .helpCommand("help [command]", text.help.helpCommand)
  .addHelpText("after", `\n${text.help.programAfter}`)
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ writeOut: terminal.rawOut, writeErr: (line) => terminal.rawErr(line.replace(/^error: /, "")) })
  .showSuggestionAfterError()
  .showHelpAfterError(text.errors.usage("owlctl [options] [command]", "owlctl --help"))
  .exitOverride();

const deps: CommandDeps = {
  async registerAll(all) {
    for (const load of Object.values(COMMANDS)) (await load()).register(all, deps);
  },
  text,
  language,
  terminal,
  clock: systemClock,
  env,
  cwd: process.cwd(),
  signal: interrupt.signal,
  client: () => createClient(findSocket(program.opts<{ socket?: string }>().socket, env, process.cwd()), language),
  run:
    (action) =>
    async (...args) => {
      exitCode = (await action(...args)) ?? EXIT.done;
    },
};

const wanted = wantedCommand(process.argv.slice(2));
if (wanted === null) await deps.registerAll(program);
else (await COMMANDS[wanted]?.())?.register(program, deps);
for (const command of program.commands) inheritSettings(command, program.name());

try {
  if (process.argv.length <= 2) program.help({ error: true });
  await program.parseAsync(process.argv);
} catch (error) {
  // commander's own ends: help and version are 0, everything else is wrong use and already explained.
  if (error instanceof CommanderError) {
    exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const meant = error.code === "commander.unknownCommand" ? meantBy(program.args[0] ?? "") : null;
    if (meant !== null) terminal.err(text.errors.meant(meant));
  } else fail(error);
}
process.exit(exitCode);

/** Subcommands were made before the program's settings could reach them. */
function inheritSettings(command: Command, parents: string): void {
  const name = `${parents} ${command.name()}`;
  for (const child of command.commands) inheritSettings(child, name);
  command
    .helpOption("-h, --help", text.help.help)
    .showSuggestionAfterError()
    .showHelpAfterError(text.errors.usage(`${name} ${command.usage()}`, `${name} --help`));
}
