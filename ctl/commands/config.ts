// `owlctl config check|show|schema`: the configuration before it is used. Only `show` asks the daemon, and only when it is there.

import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { ShownConfig } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { formatDuration } from "../../config/units.ts";
import type { CommandDeps } from "../deps.ts";
import { ROUTES } from "../routes.ts";

const SYSTEM_FILE = "/etc/owl/owl.yaml";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.config;
  const config = program
    .command("config")
    .description(t.about)
    .addHelpText(
      "after",
      text.examples(["owlctl config check owl.yaml", "owlctl config show", "owlctl config schema > owl.schema.json"]),
    );
  config
    .command("check")
    .description(t.check)
    .argument("[file]", t.file)
    .option("--json", text.help.json)
    .action(deps.run((file: string | undefined, options: { json?: boolean }) => check(file, options, deps)));
  config
    .command("show")
    .description(t.show)
    .argument("[file]", t.file)
    .option("--json", text.help.json)
    .action(deps.run((file: string | undefined, options: { json?: boolean }) => show(file, options, deps)));
  config
    .command("schema")
    .description(t.schema)
    .action(
      deps.run(async () => {
        const { owlYamlJsonSchema } = await import("../../config/schema.ts");
        deps.terminal.out(JSON.stringify(owlYamlJsonSchema(), null, 2));
        return undefined;
      }),
    );
}

/** Loads as owld would, but judges `user:` only by whether that user exists: who runs owlctl does not matter. */
async function load(file: string | undefined, { env, cwd }: CommandDeps) {
  const { loadConfig } = await import("../../config/load.ts");
  const { locateConfigFile } = await import("../../config/locate.ts");
  const { unknownUser } = await import("../../config/switch-user.ts");
  const found = locateConfigFile(file ?? null, env, cwd)?.file ?? (existsSync(SYSTEM_FILE) ? SYSTEM_FILE : null);
  return loadConfig({ file: found, env, cwd, userProblem: unknownUser });
}

async function check(
  file: string | undefined,
  options: { json?: boolean },
  deps: CommandDeps,
): Promise<number | undefined> {
  const { terminal, text } = deps;
  try {
    const config = await load(file, deps);
    const { missingProgram } = await import("../../config/find-program.ts");
    const missing = config.services.flatMap((service) => {
      const found = missingProgram(service, deps.env.PATH);
      if (found === null) return [];
      const key = { cwd: "cwd", command: "command", unfit: "command", check: "health.command" }[found.kind];
      return [text.commands.config.missing(service.name, key, found.what)];
    });
    const warnings = [...(config.warnings ?? []), ...missing];
    if (options.json) terminal.out(JSON.stringify({ valid: true, file: config.file, problems: [], warnings }));
    else {
      for (const warning of warnings) terminal.err(terminal.paintErr(warning, "yellow"));
      const services = config.services.map((service) => `${service.name} x${service.replicas}`).join(", ");
      terminal.out(`${terminal.paintOut("OK", "green")}  ${config.file ?? text.commands.config.noFile}: ${services}`);
      const { stopChain } = await import("../../config/relations.ts");
      const { drainTimeoutMs, graceMs, marginMs, totalMs } = stopChain(config);
      const [drain, grace, margin, total] = [drainTimeoutMs, graceMs, marginMs, totalMs].map(formatDuration);
      terminal.out(text.commands.config.stopChain(String(drain), String(grace), String(margin), String(total)));
    }
    return undefined;
  } catch (error) {
    if (options.json && error instanceof OwlError && error.code === "config.invalid") {
      terminal.out(JSON.stringify({ valid: false, problems: error.data.problems ?? [], warnings: [] }));
    }
    throw error;
  }
}

async function show(file: string | undefined, options: { json?: boolean }, deps: CommandDeps): Promise<undefined> {
  const { terminal } = deps;
  const shown = file === undefined ? await running(deps) : null;
  let config: Readonly<Record<string, unknown>>;
  if (shown !== null) config = shown.config;
  else {
    const { shownConfig } = await import("../../config/shown.ts");
    config = shownConfig(await load(file, deps));
  }
  if (options.json) return terminal.out(JSON.stringify(config)) as undefined;
  const { stringify } = await import("yaml");
  terminal.out(`# ${shown === null ? deps.text.commands.config.fromFile : deps.text.commands.config.fromDaemon}`);
  terminal.out(stringify(config).trimEnd());
}

/** The daemon's own configuration; null when there is no daemon to ask. */
async function running(deps: CommandDeps): Promise<ShownConfig | null> {
  try {
    return await deps.client().get<ShownConfig>(ROUTES.config);
  } catch (error) {
    if (error instanceof OwlError && error.code.startsWith("daemon.")) return null;
    throw error;
  }
}
