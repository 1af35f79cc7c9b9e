// What every command does with a rollout it has asked for: let it run (`--detach`), or watch it and say how it ended.

import { EXIT, type Rollout } from "../config/control-api.ts";
import type { CommandDeps } from "./deps.ts";
import { Interrupted } from "./exit-codes.ts";
import { rolloutEndLines } from "./render/rollout-end.ts";
import { rolloutView } from "./render/rollout-view.ts";
import { watchRollout } from "./watch-rollout.ts";

/** As a command was given them. */
interface FollowOptions {
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly wait?: "serving" | "drained";
  readonly timeout?: number;
}

/** Resolves with the exit code. Ctrl-C ends the watching only, and says so. */
export async function follow(rollout: Rollout, options: FollowOptions, deps: CommandDeps): Promise<number> {
  const { terminal, text, clock, signal } = deps;
  const { id } = rollout;
  const asLine = (one: Rollout) => JSON.stringify({ rollout: one.id, ...one });
  if (options.detach) {
    if (options.json) terminal.out(asLine(rollout));
    else terminal.out(text.rollout.detached(id));
    return EXIT.done;
  }
  if (!options.json) for (const note of rollout.notes ?? []) terminal.err(`! ${note}`);
  let end: Rollout;
  try {
    end = await watchRollout({
      client: deps.client(),
      clock,
      id,
      view: rolloutView(deps, id, options.json ?? false),
      until: options.wait ?? "drained",
      timeoutMs: options.timeout ?? null,
      signal,
    });
  } catch (error) {
    if (error instanceof Interrupted) throw new Interrupted(text.watch.interrupted(id));
    throw error;
  }
  if (options.json) terminal.out(asLine(end));
  else for (const line of rolloutEndLines(end, text, terminal.paintOut, true)) terminal.out(line);
  return end.state === "failed" || end.state === "cancelled" ? EXIT.failed : EXIT.done;
}
