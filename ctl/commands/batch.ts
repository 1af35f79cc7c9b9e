// `owlctl batch plan|start|list|show|watch|cancel|retry`: archive transcription from a terminal, through owld to a web instance.

import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import type { CommandDeps } from "../deps.ts";
import { Interrupted } from "../exit-codes.ts";
import { elapsed } from "../render/figures.ts";
import { liveBlock } from "../render/live-block.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";
import { isAway } from "../watch-rollout.ts";

interface Counts {
  readonly queued: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
}

interface Batch {
  readonly id: string;
  readonly state: "running" | "paused" | "done" | "failed" | "cancelled";
  readonly counts: Counts;
  readonly progress: number;
  readonly etaSeconds: number | null;
}

interface BatchPlan {
  readonly items: readonly unknown[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  readonly count: number;
  readonly estimateSeconds: number | null;
}

interface Options {
  readonly json?: boolean;
  readonly user?: string;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.batch;
  const batch = program
    .command("batch")
    .description(t.about)
    .addHelpText(
      "after",
      text.examples([
        "owlctl batch plan /srv/recordings",
        "owlctl batch start /srv/recordings",
        "owlctl batch watch ID",
      ]),
    );
  const withPath = (name: "plan" | "start") =>
    batch
      .command(name)
      .description(t[name])
      .argument("<path>", t.path)
      .option("--user <name>", t.user)
      .option("--json", text.help.json);
  const withId = (name: "show" | "watch" | "cancel" | "retry") =>
    batch.command(name).description(t[name]).argument("<id>", t.id).option("--json", text.help.json);
  withPath("plan").action(deps.run((path: string, options: Options) => plan(path, options, deps)));
  withPath("start").action(deps.run((path: string, options: Options) => start(path, options, deps)));
  batch
    .command("list")
    .description(t.list)
    .option("--json", text.help.json)
    .action(deps.run((options: Options) => list(options, deps)));
  withId("show").action(deps.run((id: string, options: Options) => show(id, options, deps)));
  withId("watch").action(deps.run((id: string, options: Options) => watch(id, options, deps)));
  withId("cancel").action(deps.run((id: string, options: Options) => ask(id, "cancel", options, deps)));
  withId("retry").action(deps.run((id: string, options: Options) => ask(id, "retry", options, deps)));
}

const body = (path: string, options: Options) => ({
  kind: "transcription",
  path,
  ...(options.user === undefined ? {} : { user: options.user }),
});
const pathOf = (id: string) => ROUTES.app(`/batches/${encodeURIComponent(id)}`);

async function plan(path: string, options: Options, { client, terminal, text }: CommandDeps): Promise<number> {
  const planned = await client().send<BatchPlan>("POST", ROUTES.app("/batches/plan"), body(path, options));
  if (options.json) terminal.out(JSON.stringify(planned));
  else {
    const t = text.commands.batch;
    for (const one of planned.skipped.slice(0, 20)) terminal.err(t.skipped(one.path, one.reason));
    const time = planned.estimateSeconds === null ? "?" : elapsed(planned.estimateSeconds * 1_000);
    terminal.out(t.planned(planned.count, planned.skipped.length, time));
  }
  return EXIT.done;
}

async function start(path: string, options: Options, { client, terminal, text }: CommandDeps): Promise<number> {
  const started = await client().send<{ batchId: string }>("POST", ROUTES.app("/batches"), body(path, options));
  terminal.out(options.json ? JSON.stringify(started) : text.commands.batch.started(started.batchId));
  return EXIT.done;
}

async function list(options: Options, { client, terminal, text }: CommandDeps): Promise<number> {
  const { items } = await client().get<{ items: readonly Batch[] }>(ROUTES.app("/batches"));
  if (options.json) terminal.out(JSON.stringify(items));
  else if (items.length === 0) terminal.out(text.commands.batch.none);
  else {
    const rows = items.map((one) => [
      one.id,
      one.state,
      String(one.counts.done),
      String(one.counts.failed),
      String(one.counts.queued),
      String(one.counts.running),
      `${Math.floor(one.progress * 100)}%`,
      one.etaSeconds === null ? "-" : elapsed(one.etaSeconds * 1_000),
    ]);
    for (const line of table(text.commands.batch.columns, rows, terminal.paintOut)) terminal.out(line);
  }
  return EXIT.done;
}

async function show(id: string, options: Options, deps: CommandDeps): Promise<number> {
  const batch = await deps.client().get<Batch>(pathOf(id));
  deps.terminal.out(options.json ? JSON.stringify(batch) : lineOf(batch, deps));
  return EXIT.done;
}

async function ask(
  id: string,
  verb: "cancel" | "retry",
  options: Options,
  { client, terminal, text }: CommandDeps,
): Promise<number> {
  const answer = await client().send<unknown>("POST", `${pathOf(id)}/${verb}`, {});
  terminal.out(options.json ? JSON.stringify(answer ?? { batchId: id }) : text.commands.batch.asked(id));
  return EXIT.done;
}

/** Polls once a second: a batch outlives owld, so a restart of it only interrupts the view. */
async function watch(id: string, options: Options, deps: CommandDeps): Promise<number> {
  const { client, terminal, clock, signal, text } = deps;
  let batch = await client().get<Batch>(pathOf(id));
  const live = terminal.errIsTerminal && !options.json;
  const block = live ? liveBlock(terminal, clock, (frame) => [`${frame} ${lineOf(batch, deps)}`]) : null;
  let last = "";
  try {
    for (;;) {
      const line = options.json ? JSON.stringify(batch) : lineOf(batch, deps);
      if (!live && line !== last) (options.json ? terminal.out : terminal.err)(line);
      last = line;
      if (batch.state !== "running" && batch.state !== "paused") break;
      await clock.sleep(1_000, signal);
      const now = await client()
        .get<Batch>(pathOf(id))
        .catch((error: unknown) => {
          if (!isAway(error)) throw error;
          return null;
        });
      batch = now ?? batch;
    }
  } catch (error) {
    if (error instanceof Interrupted) throw new Interrupted(text.commands.batch.interrupted(id));
    throw error;
  } finally {
    block?.close();
  }
  if (!options.json) terminal.out(lineOf(batch, deps));
  return batch.state === "done" ? EXIT.done : EXIT.failed;
}

function lineOf(batch: Batch, { text }: CommandDeps): string {
  const t = text.commands.batch;
  const { counts } = batch;
  const total = counts.queued + counts.running + counts.done + counts.failed + counts.cancelled;
  const left =
    batch.etaSeconds === null || batch.state !== "running" ? "" : `, ${t.left(elapsed(batch.etaSeconds * 1_000))}`;
  return `${Math.floor(batch.progress * 100)}%  ${t.line(batch.state, counts.done, total, counts.failed)}${left}`;
}
