// `owlctl export kubernetes|compose`: the same budgets as manifests, for those who outgrow one machine.
// Reads the configuration only; never asks the daemon. Secrets are references; their values go into a file on request.

import { chmodSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { Document, stringify } from "yaml";
import { OwlError } from "../../config/errors.ts";
import { appConfigWith, CODE_ROOT, loadConfig } from "../../config/load.ts";
import { locateConfigFile } from "../../config/locate.ts";
import { unknownUser } from "../../config/switch-user.ts";
import type { CommandDeps } from "../deps.ts";
import { composeDocument } from "../export/compose.ts";
import { kubernetesObjects } from "../export/kubernetes.ts";
import { leftOut } from "../export/plan.ts";
import { codeVersion } from "../version.ts";

interface Options {
  readonly image: string;
  readonly appConfig?: string;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.export;
  const group = program
    .command("export")
    .description(t.about)
    .addHelpText(
      "after",
      text.examples([
        "owlctl export kubernetes --image registry.example.org/owl:1.0.0 > owl.k8s.yaml",
        "owlctl export compose --image owl:1.0.0 > compose.yaml",
        "owlctl export kubernetes --image owl:1.0.0 --app-config app-config.json > owl.k8s.yaml",
      ]),
    );
  for (const form of ["kubernetes", "compose"] as const)
    group
      .command(form)
      .description(t[form])
      .argument("[file]", t.file)
      .requiredOption("--image <name>", t.image)
      .option("--app-config <file>", t.appConfig)
      .option("--json", text.help.json)
      .action(deps.run(async (file: string | undefined, options: Options) => exportAs(form, file, options, deps)));
}

function exportAs(
  form: "kubernetes" | "compose",
  file: string | undefined,
  options: Options,
  deps: CommandDeps,
): undefined {
  const { env, cwd, terminal, text } = deps;
  const t = text.commands.export;
  const found = locateConfigFile(file ?? null, env, cwd)?.file ?? null;
  const config = loadConfig({ file: found, env, cwd, userProblem: unknownUser });
  const request = { config, root: CODE_ROOT, image: options.image, version: codeVersion() };
  if (config.bundled && config.database === null)
    throw new OwlError("export.database", t.noDatabase, { next: t.noDatabaseNext });
  if (options.appConfig !== undefined) writeAppConfig(options.appConfig, config, deps);
  const head = t.head(form, options.appConfig ?? "app-config.json").map((line) => `# ${line}`.trimEnd());
  const lost = leftOut(request)
    .filter(({ key }) => form === "compose" || key === "schedule" || key === "files")
    .map(({ service, key, value }) => `services.${service}.${key}: ${value}`);
  if (lost.length > 0) {
    head.push("#", `# ${t.leftOutHead}`, ...lost.map((line) => `#   ${line}`));
    for (const line of [t.leftOutHead, ...lost]) terminal.err(terminal.paintErr(line, "yellow"));
  }
  if (form === "compose") {
    const document = composeDocument(request);
    terminal.out(
      options.json ? JSON.stringify(document, null, 2) : `${head.join("\n")}\n${stringify(document)}`.trimEnd(),
    );
    return;
  }
  const objects = kubernetesObjects(request);
  if (options.json) terminal.out(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, null, 2));
  else
    terminal.out(`${head.join("\n")}\n${objects.map((object) => `---\n${new Document(object)}`).join("")}`.trimEnd());
}

function writeAppConfig(path: string, config: ReturnType<typeof loadConfig>, { terminal, text }: CommandDeps): void {
  if (config.app === null || config.database === null)
    throw new OwlError("export.appConfig", text.commands.export.noApp, { next: text.commands.export.noAppNext });
  writeFileSync(path, `${JSON.stringify(appConfigWith(config.app, config.database.url))}\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
  terminal.err(text.commands.export.wrote(path));
}
