// `owlctl update ARCHIVE|DIR`: stages, plans or starts an update, then only watches it; the work is owld's.

import { resolve } from "node:path";
import type { Command } from "commander";
import {
  EXIT,
  type Rollout,
  type RolloutPlan,
  type StagedAnswer,
  type UpdateRequest,
} from "../../config/control-api.ts";
import { durationArgument } from "../arguments.ts";
import { confirmed } from "../confirm.ts";
import type { CommandDeps } from "../deps.ts";
import { follow } from "../follow.ts";
import { planLines } from "../render/plan-view.ts";
import { ROUTES } from "../routes.ts";
import { showPlan } from "../show-plan.ts";

interface Options {
  readonly stage?: boolean;
  readonly overlap?: boolean;
  readonly allowUnsigned?: boolean;
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly timeout?: number;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.update;
  program
    .command("update")
    .description(t.about)
    .argument("<archive|dir>", t.source)
    .option("--stage", t.stage)
    .option("--overlap", t.overlap)
    .option("--allow-unsigned", t.allowUnsigned)
    .option("--plan", t.plan)
    .option("--yes", text.help.yes)
    .option("--timeout <duration>", text.help.timeout, durationArgument(text))
    .option("--detach", text.help.detach)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples([
        "owlctl update owl-1.1.0-linux-x64.tar.zst --plan",
        "owlctl update owl-1.1.0-linux-x64.tar.zst",
        "owlctl update --stage owl-1.1.0-linux-x64.tar.zst",
        "owlctl update /srv/releases/1.1.0 --yes --detach --json",
      ]),
    )
    .action(deps.run((source: string, options: Options) => update(source, options, deps)));
}

async function update(source: string, options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text, cwd } = deps;
  const client = deps.client();
  const json = options.json ?? false;
  const asked = { source: resolve(cwd, source), ...(options.allowUnsigned ? { allowUnsigned: true } : {}) };
  const request: UpdateRequest = { ...asked, overlap: options.overlap ?? false };
  if (options.stage || options.plan || !(options.yes || json || options.detach))
    terminal.err(text.commands.update.staging);
  if (options.stage) {
    const staged = await client.send<StagedAnswer>("POST", ROUTES.releases, asked);
    terminal.out(json ? JSON.stringify(staged) : text.commands.update.staged(staged.version, staged.path));
    // An owld of an older release does not say.
    const untrusted = staged.signing === undefined || staged.signing === "checked" ? null : staged.signing;
    if (untrusted !== null && !json) terminal.err(text.signing[untrusted]);
    return EXIT.done;
  }
  if (options.plan || !(options.yes || json || options.detach)) {
    const plan = await client.send<RolloutPlan>("POST", ROUTES.planUpdate, request);
    if (options.plan) return showPlan(plan, options, deps);
    for (const line of planLines(plan, text, terminal.paintErr)) terminal.err(line);
    if (!plan.changes) return EXIT.done;
    if (!(await confirmed(text.commands.update.ask, deps))) return EXIT.failed;
  }
  const rollout = await client.send<Rollout>("POST", ROUTES.updates, request);
  return follow(rollout, options, deps);
}
