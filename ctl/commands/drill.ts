// `owlctl drill`: proves a restore. Exit 0: it passed; 1: it did not, and says why.

import type { Command } from "commander";
import { type DrillStatus, EXIT } from "../../config/control-api.ts";
import { locateHome } from "../../config/locate.ts";
import { askBackups, type BackupStep, backupPlace } from "../backup-program.ts";
import type { CommandDeps } from "../deps.ts";
import { elapsed } from "../render/figures.ts";

interface Options {
  readonly json?: boolean;
  readonly passphraseFile?: string;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("drill")
    .description(text.commands.drill.about)
    .argument("[dir]", text.commands.backup.dir)
    .option("--passphrase-file <file>", text.commands.backup.passphrase)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl drill", "owlctl drill /mnt/backup --json"]))
    .action(deps.run((dir: string | undefined, options: Options) => drill(dir, options, deps)));
}

async function drill(dir: string | undefined, options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal, text } = deps;
  const t = text.commands.drill;
  const question = {
    ask: "drill",
    ...(await backupPlace(dir, options.passphraseFile, deps)),
    home: locateHome(env, cwd),
  };
  const say = (step: BackupStep) => terminal.err(text.commands.backup.steps[step]);
  const report = await askBackups<DrillStatus & { readonly file: string }>(question, deps, say);
  if (options.json) terminal.out(JSON.stringify(report));
  else {
    if (report.passed) terminal.out(t.passed(report.backup, elapsed(report.rtoMs ?? 0)));
    else terminal.err(terminal.paintErr(t.failed(report.reason ?? ""), "red"));
    if (report.passed) terminal.out(report.rpoMs === null ? t.noRpo : t.rpo(elapsed(report.rpoMs)));
    terminal.out(t.report(report.file));
  }
  return report.passed ? EXIT.done : EXIT.failed;
}
