// `owlctl stop SERVICE|INSTANCE`, `owlctl stop --all`: drained with its whole grace and wanted down until started again.

import type { Command } from "commander";
import { EXIT, type Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { changeCommand } from "../change.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("stop")
    .description(text.commands.stop.about)
    .argument("[target]", text.help.target)
    .option("--all", text.commands.stop.all)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl stop worker", "owlctl stop web-7", "owlctl stop --all"]))
    .action(deps.run((target: string | undefined, options: Options) => stop(target, options, deps)));
}

async function stop(target: string | undefined, options: Options, deps: CommandDeps): Promise<number> {
  if ((target === undefined) !== (options.all === true)) throw new OwlError("usage.stop", deps.text.commands.stop.one);
  if (target !== undefined) return await changeCommand({ path: ROUTES.stop(target) }, options, deps);
  const { services } = await deps.client().get<Status>(ROUTES.status);
  // The last one first: what others lean on comes first in owl.yaml.
  for (const { name } of services.toReversed()) await changeCommand({ path: ROUTES.stop(name) }, options, deps);
  return EXIT.done;
}
