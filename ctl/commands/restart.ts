// `owlctl restart`: asks for a surge rollout of the current release, then only watches it.

import { type Command, Option } from "commander";
import type { Rollout, RolloutPlan, RolloutRequest } from "../../config/control-api.ts";
import { durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { follow } from "../follow.ts";
import { ROUTES } from "../routes.ts";
import { showPlan } from "../show-plan.ts";

interface Options {
  readonly all?: boolean;
  readonly plan?: boolean;
  readonly wait: "serving" | "drained";
  readonly timeout?: number;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.restart;
  program
    .command("restart")
    .description(t.about)
    .argument("[service...]", t.service)
    .option("--all", t.all)
    .option("--plan", t.plan)
    .addOption(new Option("--wait <until>", t.wait).choices(["serving", "drained"]).default("drained"))
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--detach", text.help.detach)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples([
        "owlctl restart",
        "owlctl restart web --plan",
        "owlctl restart --wait serving --timeout 10m",
        "owlctl restart --detach --json",
      ]),
    )
    .action(deps.run((services: string[], options: Options) => restart(services, options, deps)));
}

async function restart(services: readonly string[], options: Options, deps: CommandDeps): Promise<number> {
  const client = deps.client();
  const request: RolloutRequest = { kind: "restart", services, all: options.all ?? false };
  if (options.plan) {
    return showPlan(await client.send<RolloutPlan>("POST", ROUTES.planRollout, request), options, deps);
  }
  const rollout = await client.send<Rollout>("POST", ROUTES.rollouts, request);
  return follow(rollout, options, deps);
}
