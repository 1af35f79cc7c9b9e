// `owlctl rollback [VERSION]`: goes back to an earlier release; says before what would be lost, and asks.

import type { Command } from "commander";
import { EXIT, type Rollout, type RolloutPlan } from "../../config/control-api.ts";
import { durationArgument } from "../arguments.ts";
import { confirmed } from "../confirm.ts";
import type { CommandDeps } from "../deps.ts";
import { follow } from "../follow.ts";
import { planLines } from "../render/plan-view.ts";
import { ROUTES } from "../routes.ts";
import { showPlan } from "../show-plan.ts";

interface Options {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly timeout?: number;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.rollback;
  program
    .command("rollback")
    .description(t.about)
    .argument("[version]", t.version)
    .option("--plan", t.plan)
    .option("--yes", text.help.yes)
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--detach", text.help.detach)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl rollback --plan", "owlctl rollback", "owlctl rollback 1.0.0 --yes"]))
    .action(deps.run((version: string | undefined, options: Options) => rollback(version ?? null, options, deps)));
}

async function rollback(version: string | null, options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const client = deps.client();
  // Printed first even when nobody is asked: what is lost is said before it is done.
  const plan = await client.send<RolloutPlan>("POST", ROUTES.planRollback, { version });
  if (options.plan) return showPlan(plan, options, deps);
  for (const line of planLines(plan, text, terminal.paintErr)) terminal.err(line);
  if (!options.yes && !(await confirmed(text.commands.rollback.ask, deps))) return EXIT.failed;
  const rollout = await client.send<Rollout>("POST", ROUTES.rollbacks, { version });
  return follow(rollout, options, deps);
}
