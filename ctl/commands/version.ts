// `owlctl version`: this program's, and the daemon's when it is there.

import type { Command } from "commander";
import type { Status } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";
import { codeVersion } from "../version.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("version")
    .description(text.commands.version.about)
    .option("--json", text.help.json)
    .action(
      deps.run(async (options: { json?: boolean }) => {
        const { terminal } = deps;
        const status = await deps
          .client()
          .get<Status>(ROUTES.status)
          .catch(() => null);
        const versions = { owlctl: codeVersion(), owld: status?.version ?? null, node: process.version.slice(1) };
        if (options.json) terminal.out(JSON.stringify({ version: versions.owlctl, ...versions }));
        else {
          terminal.out(`owlctl ${versions.owlctl} (Node ${versions.node})`);
          terminal.out(
            status === null
              ? text.commands.version.noDaemon
              : `owld ${status.version} (${text.status.pid} ${status.pid})`,
          );
        }
        return undefined;
      }),
    );
}
