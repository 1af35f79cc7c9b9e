// `owlctl status [SERVICE|INSTANCE] [--json] [--watch]`: how everything is, or that one, once or live.

import type { Command } from "commander";
import type { Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { nearest } from "../../config/nearest.ts";
import type { CommandDeps } from "../deps.ts";
import { statusLines } from "../render/status-view.ts";
import { ROUTES } from "../routes.ts";
import { watchStatus } from "../watch-status.ts";

interface Options {
  readonly json?: boolean;
  readonly watch?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("status")
    .description(text.commands.status.about)
    .argument("[target]", text.help.target)
    .option("--json", text.help.json)
    .option("-w, --watch", text.commands.status.watch)
    .addHelpText("after", text.examples(["owlctl status", "owlctl status web", "owlctl status --watch"]))
    .action(
      deps.run(async (target: string | undefined, options: Options) =>
        options.watch
          ? watchStatus((status) => lines(status, target, deps), deps, options.json)
          : once(target, options, deps),
      ),
    );
}

async function once(target: string | undefined, options: Options, deps: CommandDeps): Promise<undefined> {
  const status = await deps.client().get<Status>(ROUTES.status);
  if (options.json) deps.terminal.out(JSON.stringify(only(status, target, deps)));
  else for (const line of lines(status, target, deps)) deps.terminal.out(line);
}

function lines(status: Status, target: string | undefined, deps: CommandDeps): string[] {
  const { text, terminal, clock } = deps;
  const shown = only(status, target, deps);
  // Of a service that has no part in the work nothing is missing.
  const workers = target !== undefined && shown.workers?.length === 0 ? null : shown.workers;
  return statusLines({ ...shown, workers }, { text, paint: terminal.paintOut, nowMs: clock.now() });
}

/** Of its services and instances that one alone. */
function only(status: Status, target: string | undefined, { text }: CommandDeps): Status {
  if (target === undefined) return status;
  const services = status.services.flatMap((service) => {
    const instances = service.instances.filter(({ id }) => id === target);
    if (service.name === target) return [service];
    return instances.length > 0 ? [{ ...service, instances }] : [];
  });
  const known = status.services.flatMap(({ name, instances }) => [name, ...instances.map(({ id }) => id)]);
  if (services.length === 0)
    throw new OwlError("usage.service", text.errors.noService(target, nearest(target, known) ?? known.join(", ")));
  const isOurs = ({ id }: { readonly id: string }): boolean =>
    services.some(({ instances }) => instances.some((one) => one.id === id));
  return { ...status, services, workers: status.workers?.filter(isOurs) ?? null };
}
