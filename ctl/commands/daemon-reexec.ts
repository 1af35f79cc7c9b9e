// `owlctl daemon-reexec`: the supervisor ends and comes back on the code of now; everything else runs on.

import type { Command } from "commander";
import type { Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";
import { isAway } from "../watch-rollout.ts";

const WAIT_MS = 60_000;

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("daemon-reexec")
    .description(text.commands.reexec.about)
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl daemon-reexec"]))
    .action(deps.run((options: { timeout?: number; json?: boolean }) => reexec(options, deps)));
}

async function reexec(options: { timeout?: number; json?: boolean }, deps: CommandDeps): Promise<undefined> {
  const { terminal, text, clock, signal } = deps;
  const client = deps.client();
  const before = await client.get<Status>(ROUTES.status);
  await client.send("POST", ROUTES.reexec, {}).catch((error: unknown) => {
    // It may be gone before its answer is through: that is what was asked for.
    if (!isAway(error)) throw error;
  });
  const deadlineMs = clock.monotonicMs() + (options.timeout ?? WAIT_MS);
  for (;;) {
    const now = await client.get<Status>(ROUTES.status).catch(() => null);
    if (now !== null && (now.pid !== before.pid || now.startedAt !== before.startedAt)) {
      if (options.json) terminal.out(JSON.stringify({ before: before.pid, pid: now.pid, version: now.version }));
      else terminal.out(text.commands.reexec.done(before.pid, now.pid, now.version));
      return;
    }
    if (clock.monotonicMs() > deadlineMs) {
      throw new OwlError("watch.timeout", text.commands.reexec.notBack, { next: text.commands.reexec.notBackNext });
    }
    await clock.sleep(100, signal);
  }
}
