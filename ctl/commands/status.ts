// `owlctl status [--json] [--watch]`: how everything is, once or live.

import type { Command } from "commander";
import type { Status } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { Interrupted } from "../exit-codes.ts";
import { fullScreen } from "../render/full-screen.ts";
import { statusLines } from "../render/status-view.ts";
import { ROUTES } from "../routes.ts";
import { isAway } from "../watch-rollout.ts";

interface Options {
  readonly json?: boolean;
  readonly watch?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("status")
    .description(text.commands.status.about)
    .option("--json", text.help.json)
    .option("-w, --watch", text.commands.status.watch)
    .addHelpText("after", text.examples(["owlctl status", "owlctl status --watch", "owlctl status --json"]))
    .action(deps.run(async (options: Options) => (options.watch ? watch(options, deps) : once(options, deps))));
}

async function once(options: Options, deps: CommandDeps): Promise<undefined> {
  const status = await deps.client().get<Status>(ROUTES.status);
  if (options.json) deps.terminal.out(JSON.stringify(status));
  else for (const line of lines(status, deps)) deps.terminal.out(line);
}

function lines(status: Status, { text, terminal, clock }: CommandDeps): string[] {
  return statusLines(status, { text, paint: terminal.paintOut, nowMs: clock.now() });
}

/** A screen of its own on a terminal; in a pipe, the text again whenever it changed (JSON: one object a line). */
async function watch(options: Options, deps: CommandDeps): Promise<number | undefined> {
  const { terminal, clock, signal, text } = deps;
  const live = terminal.outIsTerminal && !options.json;
  const screen = live ? fullScreen(terminal) : null;
  let last = "";
  try {
    for (;;) {
      let shown: string[];
      try {
        const status = await deps.client().get<Status>(ROUTES.status);
        shown = options.json ? [JSON.stringify(status)] : lines(status, deps);
      } catch (error) {
        if (!isAway(error) || last === "") throw error;
        shown = [terminal.paintOut(text.watch.gone, "yellow")];
        if (options.json) shown = [];
      }
      const now = shown.join("\n");
      if (screen !== null) screen.draw([...shown, "", terminal.paintOut(text.watch.quit, "dim")]);
      else if (now !== last && now !== "") terminal.out(now);
      last = now || last;
      await clock.sleep(live ? 500 : 1_000, signal);
    }
  } catch (error) {
    // Looking is all this command does, so Ctrl-C is its ordinary end.
    if (error instanceof Interrupted) return undefined;
    throw error;
  } finally {
    screen?.close();
  }
}
