// `owlctl restore DIR`: a backup into an empty home. It needs no owld, and refuses a home that is in use.

import { join, resolve } from "node:path";
import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { locateConfigFile, locateHome } from "../../config/locate.ts";
import { formatSize } from "../../config/units.ts";
import { askBackups, type BackupStep, backupPlace } from "../backup-program.ts";
import type { CommandDeps } from "../deps.ts";
import { type Restored, showRestored } from "../render/restored.ts";

interface Options {
  readonly at?: string;
  readonly backup?: string;
  readonly into?: string;
  readonly plan?: boolean;
  readonly json?: boolean;
  readonly passphraseFile?: string;
}

interface Plan {
  readonly backup: string;
  readonly version: string;
  readonly major: number;
  readonly home: string;
  readonly neededBytes: number;
  readonly logUntil: string | null;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.restore;
  program
    .command("restore")
    .description(t.about)
    .argument("<dir>", t.dir)
    .option("--at <time>", t.at)
    .option("--backup <id>", text.commands.backup.id)
    .option("--into <home>", t.into)
    .option("--plan", t.plan)
    .option("--passphrase-file <file>", text.commands.backup.passphrase)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples([
        "owlctl restore /mnt/backup --plan",
        "owlctl restore /mnt/backup",
        "owlctl restore /mnt/backup --at 2026-11-30T12:35:00Z --into /srv/owl-before",
      ]),
    )
    .action(deps.run((dir: string, options: Options) => restore(dir, options, deps)));
}

async function restore(dir: string, options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal, text } = deps;
  const t = text.commands.restore;
  const place = await backupPlace(dir, options.passphraseFile, deps);
  const beside = options.into !== undefined;
  const question = {
    ...place,
    home: beside ? resolve(cwd, options.into) : locateHome(env, cwd),
    atMs: timeOf(options.at, deps),
    backup: options.backup ?? null,
    beside,
    configFile: beside ? null : (locateConfigFile(null, env, cwd)?.file ?? join(cwd, "owl.yaml")),
  };
  if (options.plan) {
    const plan = await askBackups<Plan>({ ask: "planRestore", ...question }, deps, () => undefined);
    if (options.json) terminal.out(JSON.stringify(plan));
    else {
      terminal.out(t.planned(plan.backup, plan.version, plan.major, plan.home));
      terminal.out(t.needs(formatSize(plan.neededBytes)));
      if (plan.logUntil !== null) terminal.out(text.commands.backup.logUntil(plan.logUntil));
    }
    return EXIT.changes;
  }
  const say = (step: BackupStep) => terminal.err(text.commands.backup.steps[step]);
  const restored = await askBackups<Restored>({ ask: "restore", ...question }, deps, say);
  showRestored(restored, options, deps);
  return EXIT.done;
}

function timeOf(at: string | undefined, { text }: CommandDeps): number | null {
  if (at === undefined) return null;
  const ms = Date.parse(at);
  // Without an offset it would mean another moment on another machine.
  if (!Number.isNaN(ms) && /(Z|[+-]\d\d:?\d\d)$/.test(at)) return ms;
  const t = text.commands.restore;
  throw new OwlError("usage.time", t.badTime(at), { next: t.badTimeNext });
}
