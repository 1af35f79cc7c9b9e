// `owlctl uninstall`: stops Owl in order and removes what install made; data and configuration only with --purge.

import { lstat } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import type { CommandDeps } from "../deps.ts";
import { DROP_INS, ETC, HOME, planUninstall, UNITS } from "../install/plan.ts";
import { describeStep, takeSteps } from "../install/take-steps.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly purge?: boolean;
  readonly yes?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.uninstall;
  program
    .command("uninstall")
    .description(t.about)
    .option("--purge", t.purge)
    .option("--dry-run", text.commands.install.dryRun)
    .option("-y, --yes", text.help.yes)
    .addHelpText("after", text.examples(["owlctl uninstall --dry-run", "sudo owlctl uninstall --purge"]))
    .action(deps.run((options: Options) => uninstall(options, deps)));
}

async function uninstall(options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const t = text.commands.uninstall;
  const steps = planUninstall({ purge: options.purge === true });
  if (options.dryRun) {
    for (const step of steps) terminal.out(await describeStep(step, text));
    return EXIT.done;
  }
  if (process.geteuid?.() !== 0) throw new OwlError("install.root", t.needsRoot);
  const there = await Promise.all([...UNITS, HOME, ETC].map(isThere));
  if (!there.some(Boolean)) {
    terminal.out(t.nothing);
    return EXIT.done;
  }
  if (options.purge && !options.yes && !(await confirmed(t.confirm, deps))) {
    terminal.err(t.refused);
    return EXIT.failed;
  }
  terminal.err(t.stopping);
  await takeSteps(steps, terminal, text);
  terminal.out(t.done);
  if (options.purge) return EXIT.done;
  const dropIns = await Promise.all(DROP_INS.map(async (path) => ((await isThere(path)) ? [path] : [])));
  terminal.out(t.kept([HOME, ETC, ...dropIns.flat()].join(", ")));
  return EXIT.done;
}

async function confirmed(question: string, { terminal }: CommandDeps): Promise<boolean> {
  if (!terminal.inIsTerminal || !terminal.errIsTerminal) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y|yes|예|네)$/i.test((await asking.question(`${question} [y/N] `)).trim());
  } finally {
    asking.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
