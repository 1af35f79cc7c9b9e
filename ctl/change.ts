// The course of every command that changes something at once (reload, scale, start, stop): plan or do, say what was
// decided, and watch the rollout when one came of it.

import { type Changed, EXIT, type RolloutPlan } from "../config/control-api.ts";
import type { CommandDeps } from "./deps.ts";
import { follow } from "./follow.ts";
import { showPlan } from "./show-plan.ts";
import { watchAdded } from "./watch-added.ts";

interface Change {
  readonly path: string;
  readonly planPath?: string;
  readonly body?: unknown;
}

interface ChangeOptions {
  readonly plan?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** Resolves with the exit code. */
export async function changeCommand(change: Change, options: ChangeOptions, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const json = options.json ?? false;
  if (options.plan && change.planPath !== undefined) {
    const plan = await deps.client().send<RolloutPlan>("POST", change.planPath, change.body);
    return showPlan(plan, options, deps);
  }
  const changed = await deps.client().send<Changed>("POST", change.path, change.body);
  if (json) terminal.out(JSON.stringify(changed));
  else {
    if (!changed.changed) terminal.out(text.change.nothing);
    for (const note of changed.notes) terminal.out(note);
    if (changed.changed && changed.notes.length === 0) terminal.out(text.change.done);
  }
  if (changed.rollout !== null && !json) {
    const code = await follow(changed.rollout, { detach: options.detach }, deps);
    if (code !== EXIT.done) return code;
  }
  if (changed.added !== undefined && !options.detach) await watchAdded(changed.added, deps);
  return EXIT.done;
}
