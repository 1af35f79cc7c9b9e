// `owlctl rollout list|show|watch|cancel`: the record of what was changed, and the one that runs.

import { type Command, Option } from "commander";
import type { Rollout, Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { countArgument, durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { follow } from "../follow.ts";
import { elapsed } from "../render/figures.ts";
import { rolloutEndLines } from "../render/rollout-end.ts";
import { rolloutColour } from "../render/status-view.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.rollout;
  const rollout = program
    .command("rollout")
    .description(t.about)
    .addHelpText("after", text.examples(["owlctl rollout list", "owlctl rollout watch", "owlctl rollout cancel"]));
  rollout
    .command("list")
    .description(t.list)
    .option("-n, --number <count>", t.number, countArgument(text, 1), 50)
    .option("--json", text.help.json)
    .action(deps.run(async (options: ListOptions) => list(options, deps)));
  rollout
    .command("show")
    .description(t.show)
    .argument("<id>", t.id)
    .option("--json", text.help.json)
    .action(deps.run(async (id: string, options: { json?: boolean }) => show(id, options, deps)));
  rollout
    .command("watch")
    .description(t.watch)
    .argument("[id]", t.idOrRunning)
    .addOption(
      new Option("--wait <until>", text.commands.restart.wait).choices(["serving", "drained"]).default("drained"),
    )
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--json", text.help.json)
    .action(
      deps.run(
        async (id: string | undefined, options: { json?: boolean; wait: "serving" | "drained"; timeout?: number }) => {
          const found = await deps.client().get<Rollout>(ROUTES.rollout(id ?? (await runningId(deps))));
          return follow(found, options, deps);
        },
      ),
    );
  rollout
    .command("cancel")
    .description(t.cancel)
    .argument("[id]", t.idOrRunning)
    .option("--json", text.help.json)
    .action(deps.run(async (id: string | undefined, options: { json?: boolean }) => cancel(id, options, deps)));
}

/** The id of the rollout that runs; the newest one when none does. */
async function runningId(deps: CommandDeps): Promise<string> {
  const status = await deps.client().get<Status>(ROUTES.status);
  if (status.rollout !== null) return status.rollout.id;
  const [newest] = await deps.client().get<Rollout[]>(ROUTES.newestRollouts(1));
  if (newest === undefined)
    throw new OwlError("rollout.none", deps.text.errors.noRollout, { next: deps.text.errors.noRolloutNext });
  return newest.id;
}

interface ListOptions {
  readonly json?: boolean;
  readonly number: number;
}

async function list(options: ListOptions, { terminal, text, client }: CommandDeps): Promise<undefined> {
  const rollouts = await client().get<Rollout[]>(ROUTES.newestRollouts(options.number));
  if (options.json) return terminal.out(JSON.stringify(rollouts)) as undefined;
  if (rollouts.length === 0) return terminal.out(text.rollout.none) as undefined;
  const rows = rollouts.map((one) => [
    one.id,
    text.rollout.kinds[one.kind],
    terminal.paintOut(text.rollout.states[one.state], rolloutColour(one.state)),
    one.startedAt,
    one.endedAt === null ? "-" : elapsed(Date.parse(one.endedAt) - Date.parse(one.startedAt)),
    one.reason?.split("\n")[0] ?? "",
  ]);
  for (const line of table(text.rollout.columns, rows, terminal.paintOut)) terminal.out(line);
}

async function show(
  id: string,
  options: { json?: boolean },
  { terminal, text, client }: CommandDeps,
): Promise<undefined> {
  const rollout = await client().get<Rollout>(ROUTES.rollout(id));
  if (options.json) return terminal.out(JSON.stringify(rollout)) as undefined;
  for (const line of rolloutEndLines(rollout, text, terminal.paintOut)) terminal.out(line);
  const rows = rollout.steps.map((step) => [
    String(step.n),
    step.service,
    text.rollout.action(step.action),
    step.instance ?? "",
    text.rollout.stepStates[step.state],
    step.startedAt ?? "-",
    step.startedAt === null ? "-" : elapsed(step.elapsedMs),
  ]);
  terminal.out("");
  for (const line of table(text.rollout.stepColumns, rows, terminal.paintOut)) terminal.out(line);
}

async function cancel(id: string | undefined, options: { json?: boolean }, deps: CommandDeps): Promise<undefined> {
  const { terminal, text } = deps;
  let wanted = id;
  if (wanted === undefined) {
    const status = await deps.client().get<Status>(ROUTES.status);
    if (status.rollout === null)
      throw new OwlError("rollout.none", text.errors.noneRuns, { next: text.errors.noneRunsNext });
    wanted = status.rollout.id;
  }
  const rollout = await deps.client().send<Rollout>("DELETE", ROUTES.rollout(wanted));
  terminal.out(options.json ? JSON.stringify(rollout) : text.rollout.cancelAsked(rollout.id));
}
