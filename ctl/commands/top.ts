// `owlctl top`: live, what works hardest first.

import type { Command } from "commander";
import type { CommandDeps } from "../deps.ts";
import { topLines } from "../render/top-view.ts";
import { watchStatus } from "../watch-status.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text, terminal, clock } = deps;
  program
    .command("top")
    .description(text.commands.top.about)
    .addHelpText("after", text.examples(["owlctl top"]))
    .action(
      deps.run(async () => {
        let before: { readonly requests: number; readonly atMs: number } | null = null;
        return await watchStatus((status) => {
          const now = { requests: status.proxy.requests, atMs: clock.monotonicMs() };
          const perS =
            before === null ? 0 : ((now.requests - before.requests) * 1_000) / Math.max(1, now.atMs - before.atMs);
          before = now;
          return topLines(status, perS, { text, paint: terminal.paintOut, nowMs: clock.now() });
        }, deps);
      }),
    );
}
