// `owlctl events [-f]`: every state change, from the record; following survives a restart of owld without a gap.

import type { Command } from "commander";
import type { OwlEvent } from "../../config/control-api.ts";
import type { OwlError } from "../../config/errors.ts";
import { countArgument, durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { Interrupted } from "../exit-codes.ts";
import { ROUTES } from "../routes.ts";
import { isAway } from "../watch-rollout.ts";

interface Options {
  readonly follow?: boolean;
  readonly lines?: number;
  readonly since?: number;
  readonly json?: boolean;
}

/** More than owld keeps. */
const EVERY_EVENT = "1000000";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.events;
  program
    .command("events")
    .description(t.about)
    .argument("[target]", text.help.target)
    .option("-f, --follow", t.follow)
    .option("-n, --lines <n>", t.lines, countArgument(text))
    .option("--since <duration>", t.since, durationArgument(text))
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl events --since 1h", "owlctl events -f", "owlctl events web-3 --json"]))
    .action(deps.run((target: string | undefined, options: Options) => events(target, options, deps)));
}

export async function events(target: string | undefined, options: Options, deps: CommandDeps): Promise<undefined> {
  const { clock, signal } = deps;
  const sinceMs = options.since === undefined ? null : clock.now() - options.since;
  let lastId: number | null = null;
  for (;;) {
    const query = new URLSearchParams();
    if (options.follow) query.set("follow", "1");
    if (lastId !== null) query.set("after", String(lastId));
    else if (options.lines !== undefined) query.set("limit", String(options.lines));
    else if (sinceMs !== null) query.set("limit", EVERY_EVENT);
    if (target !== undefined) query.set(/-\d+$/.test(target) ? "instance" : "service", target);
    try {
      for await (const event of deps.client().lines<OwlEvent>(ROUTES.events(query), signal)) {
        lastId = event.id;
        if (sinceMs === null || Date.parse(event.at) >= sinceMs) print(event, options, deps);
      }
      if (!options.follow) return;
    } catch (error) {
      if (error instanceof Interrupted || signal.aborted) return;
      const away = isAway(error) && (lastId !== null || (error as OwlError).code === "daemon.gone");
      if (!options.follow || !away) throw error;
    }
    if (signal.aborted) return;
    await clock.sleep(300, signal).catch(() => undefined);
  }
}

function print(event: OwlEvent, options: Options, { terminal }: CommandDeps): void {
  if (options.json) {
    terminal.out(JSON.stringify(event));
    return;
  }
  const bad = /failed|killed|crash|exited|unhealthy|stalled/i.test(event.type);
  const type = terminal.paintOut(event.type, bad ? "red" : "cyan");
  const about = event.instance ?? event.service ?? event.rollout ?? "";
  terminal.out(`${terminal.paintOut(event.at, "dim")}  ${type}  ${about}${about === "" ? "" : "  "}${event.message}`);
}
