// `owlctl deploy [SERVICE] DIR|ARCHIVE|GIT-REF`: asks for a release of a team's own code, then only watches it.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Rollout, RolloutPlan } from "../../config/control-api.ts";
import type { DeployRequest } from "../../config/deploy-api.ts";
import { OwlError } from "../../config/errors.ts";
import { durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { follow } from "../follow.ts";
import { ROUTES } from "../routes.ts";
import { showPlan } from "../show-plan.ts";

interface Options {
  readonly share?: number;
  readonly plan?: boolean;
  readonly timeout?: number;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.deploy;
  program
    .command("deploy")
    .description(t.about)
    .argument("<what...>", t.what)
    .option("--share <percentage>", t.share, (value) => {
      const part = /^(\d{1,2})%$/.exec(value)?.[1];
      if (part === undefined) throw new InvalidArgumentError(t.badShare(value));
      return Number(part) / 100;
    })
    .option("--plan", t.plan)
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--detach", text.help.detach)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples([
        "owlctl deploy .",
        "owlctl deploy web build/web.tar.gz --plan",
        "owlctl deploy web v1.4.2 --share 10%",
        "owlctl rollback web",
      ]),
    )
    .action(deps.run((what: string[], options: Options) => deploy(what, options, deps)));
}

async function deploy(what: readonly string[], options: Options, deps: CommandDeps): Promise<number> {
  const source = what.at(-1);
  if (source === undefined || what.length > 2) throw new OwlError("usage.source", deps.text.commands.deploy.oneSource);
  const request: DeployRequest = {
    services: what.slice(0, -1),
    ...sourceOf(source, deps.cwd),
    ...(options.share === undefined ? {} : { share: options.share }),
  };
  const client = deps.client();
  if (options.plan) return showPlan(await client.send<RolloutPlan>("POST", ROUTES.planDeploy, request), options, deps);
  return follow(await client.send<Rollout>("POST", ROUTES.deploys, request), options, deps);
}

/** What is there, or is written as a path, is one; anything else a ref of the checkout, which owld looks up. */
function sourceOf(word: string, cwd: string): Pick<DeployRequest, "path" | "ref" | "directory"> {
  const path = resolve(cwd, word);
  return /^[./~]/.test(word) || existsSync(path) ? { path } : { ref: word, directory: cwd };
}
