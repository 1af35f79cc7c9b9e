// `owlctl kill INSTANCE`: SIGKILL to its whole group at once, an explicit act of a person, told what it costs.

import type { Command } from "commander";
import { EXIT, type Killed, type Status } from "../../config/control-api.ts";
import { confirmed } from "../confirm.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("kill")
    .description(text.commands.kill.about)
    .argument("<instance>", text.commands.kill.instance)
    .option("-y, --yes", text.help.yes)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl kill worker-3", "owlctl kill web-7 --yes"]))
    .action(deps.run((instance: string, options: Options) => kill(instance, options, deps)));
}

async function kill(instance: string, options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const client = deps.client();
  // A person at a terminal is told the price before; a script has decided already and is told after.
  if (!options.yes && !options.json && terminal.inIsTerminal && terminal.errIsTerminal) {
    const status = await client.get<Status>(ROUTES.status);
    const known = status.services.some((service) => service.instances.some((one) => one.id === instance));
    for (const line of costLines(status, instance, deps)) terminal.err(line);
    // A name that does not exist is owld's to refuse, with the nearest one.
    if (known && !(await confirmed(text.commands.kill.confirm(instance), deps))) {
      terminal.err(text.commands.kill.kept);
      return EXIT.failed;
    }
  }
  const killed = await client.send<Killed>("POST", ROUTES.kill(instance), {});
  if (options.json) terminal.out(JSON.stringify(killed));
  else {
    terminal.out(text.commands.kill.done(killed.instance));
    for (const note of killed.notes) terminal.out(`  ${note}`);
  }
  return EXIT.done;
}

function costLines(status: Status, name: string, { text }: CommandDeps): string[] {
  const instance = status.services.flatMap((service) => service.instances).find((one) => one.id === name);
  const jobs = Object.entries(status.workers?.find((worker) => worker.id === name)?.jobs ?? {}).map(
    ([kind, count]) => `${kind} ${count}`,
  );
  const lines: string[] = [];
  if (instance !== undefined && instance.inFlight > 0) lines.push(text.commands.kill.costRequests(instance.inFlight));
  if (jobs.length > 0) lines.push(text.commands.kill.costJobs(jobs.join(", ")));
  return lines;
}
