// What `--plan` does in every command: prints what would happen and ends with "there are changes" or "nothing to do".

import { EXIT, type RolloutPlan } from "../config/control-api.ts";
import type { CommandDeps } from "./deps.ts";
import { planLines } from "./render/plan-view.ts";

/** Resolves with the exit code. */
export function showPlan(plan: RolloutPlan, { json }: { json?: boolean }, { terminal, text }: CommandDeps): number {
  if (json) terminal.out(JSON.stringify(plan));
  else for (const line of planLines(plan, text, terminal.paintOut)) terminal.out(line);
  return plan.changes ? EXIT.changes : EXIT.done;
}
