// `owlctl env SERVICE`: the variables owl.yaml gives a service, as they are in force, secrets masked.

import type { Command } from "commander";
import type { ShownConfig } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { nearest } from "../../config/nearest.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

interface ShownService {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("env")
    .description(text.commands.env.about)
    .argument("<service>", text.help.service)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl env web", "owlctl env web --json"]))
    .action(
      deps.run(async (name: string, { json = false }: { json?: boolean }) => {
        const { config } = await deps.client().get<ShownConfig>(ROUTES.config);
        const services = config.services as readonly ShownService[];
        const found = services.find((one) => one.name === name);
        const known = services.map((one) => one.name);
        if (found === undefined)
          throw new OwlError("usage.service", text.errors.noService(name, nearest(name, known) ?? known.join(", ")));
        if (json) deps.terminal.out(JSON.stringify(found.env));
        else for (const [key, value] of Object.entries(found.env).sort()) deps.terminal.out(`${key}=${value}`);
        return undefined;
      }),
    );
}
