// `owlctl standby follow|status|promote`: a second machine that follows the backup directory, and takes over by hand.
// `status` exits 1 while it does not follow, or something is in the way.

import { join } from "node:path";
import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { locateConfigFile, locateHome } from "../../config/locate.ts";
import { askBackups, type BackupStep, backupPlace } from "../backup-program.ts";
import type { CommandDeps } from "../deps.ts";
import { type Restored, showRestored } from "../render/restored.ts";

interface Options {
  readonly json?: boolean;
  readonly passphraseFile?: string;
}

interface Standing {
  readonly home: string;
  readonly directory: string;
  readonly logUntil: string | null;
  readonly problem: string | null;
  readonly following: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.standby;
  const examples = ["owlctl standby follow /mnt/backup", "owlctl standby status --json", "owlctl standby promote"];
  const standby = program.command("standby").description(t.about).addHelpText("after", text.examples(examples));
  standby
    .command("follow")
    .description(t.follow)
    .argument("[dir]", text.commands.backup.dir)
    .option("--passphrase-file <file>", text.commands.backup.passphrase)
    .action(deps.run((dir: string | undefined, options: Options) => follow(dir, options, deps)));
  standby
    .command("status")
    .description(t.status)
    .option("--json", text.help.json)
    .action(deps.run((options: Options) => status(options, deps)));
  standby
    .command("promote")
    .description(t.promote)
    .option("--json", text.help.json)
    .action(deps.run((options: Options) => promote(options, deps)));
}

async function follow(dir: string | undefined, options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal, text } = deps;
  const place = await backupPlace(dir, options.passphraseFile, deps);
  const say = (step: string) => terminal.err(stepIn(step, deps));
  await askBackups<{ readonly ended: true }, string>(
    { ask: "follow", ...place, home: locateHome(env, cwd) },
    deps,
    say,
  );
  terminal.err(text.commands.standby.ended);
  return EXIT.done;
}

async function status(options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal, text } = deps;
  const t = text.commands.standby;
  const standing = await askBackups<Standing>({ ask: "standby", home: locateHome(env, cwd) }, deps, () => undefined);
  const { home, directory, following, logUntil, problem } = standing;
  if (options.json) terminal.out(JSON.stringify(standing));
  else {
    terminal.out(t.standing(home, directory, following));
    if (logUntil !== null) terminal.out(t.log(logUntil));
    if (problem !== null) terminal.err(terminal.paintErr(problem, "red"));
  }
  return following && problem === null ? EXIT.done : EXIT.failed;
}

async function promote(options: Options, deps: CommandDeps): Promise<number> {
  const { env, cwd, terminal } = deps;
  const question = {
    ask: "promote",
    home: locateHome(env, cwd),
    configFile: locateConfigFile(null, env, cwd)?.file ?? join(cwd, "owl.yaml"),
  };
  const restored = await askBackups<Restored, string>(question, deps, (step) => terminal.err(stepIn(step, deps)));
  showRestored(restored, options, deps);
  return EXIT.done;
}

/** What is no step's name is a sentence already. */
function stepIn(step: string, { text }: CommandDeps): string {
  const t = text.commands.standby;
  const steps: Readonly<Record<string, string>> = {
    ...text.commands.backup.steps,
    follow: t.following,
    fence: t.fence,
  } satisfies Readonly<Record<BackupStep | "follow" | "fence", string>>;
  return steps[step] ?? step;
}
