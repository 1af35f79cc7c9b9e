// The status live: a screen of its own on a terminal; in a pipe, the text again whenever it changed.

import type { Status } from "../config/control-api.ts";
import type { CommandDeps } from "./deps.ts";
import { Interrupted } from "./exit-codes.ts";
import { fullScreen } from "./render/full-screen.ts";
import { ROUTES } from "./routes.ts";
import { isAway } from "./watch-rollout.ts";

/** Until Ctrl-C, which is its ordinary end. `json`: one object a line, also on a terminal. */
export async function watchStatus(
  lines: (status: Status) => readonly string[],
  { terminal, clock, signal, text, client }: CommandDeps,
  json = false,
): Promise<undefined> {
  const live = terminal.outIsTerminal && !json;
  const screen = live ? fullScreen(terminal) : null;
  let last = "";
  try {
    for (;;) {
      let shown: readonly string[];
      try {
        const status = await client().get<Status>(ROUTES.status);
        shown = json ? [JSON.stringify(status)] : lines(status);
      } catch (error) {
        if (!isAway(error) || last === "") throw error;
        shown = json ? [] : [terminal.paintOut(text.watch.gone, "yellow")];
      }
      const now = shown.join("\n");
      if (screen !== null) screen.draw([...shown, "", terminal.paintOut(text.watch.quit, "dim")]);
      else if (now !== last && now !== "") terminal.out(now);
      last = now || last;
      await clock.sleep(live ? 500 : 1_000, signal);
    }
  } catch (error) {
    // Looking is all this command does.
    if (error instanceof Interrupted) return undefined;
    throw error;
  } finally {
    screen?.close();
  }
}
