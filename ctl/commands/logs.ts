// `owlctl logs`: the last lines of instance logs, across rotation; `-f` goes on, also over a restart of owld.

import type { Command } from "commander";
import type { LogLine } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { countArgument, durationArgument } from "../arguments.ts";
import type { CommandDeps } from "../deps.ts";
import { Interrupted } from "../exit-codes.ts";
import type { Colour } from "../render/terminal.ts";
import { ROUTES } from "../routes.ts";
import { isAway } from "../watch-rollout.ts";
import { events } from "./events.ts";

interface Options {
  readonly follow?: boolean;
  readonly lines?: number;
  readonly tail?: number;
  readonly since?: number;
  readonly grep?: string;
  readonly request?: string;
  readonly json?: boolean;
}

/** Older than any log. */
const EVERYTHING_MS = 100 * 365 * 86_400_000;

const COLOURS: readonly Colour[] = ["cyan", "green", "yellow", "blue"];

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.logs;
  program
    .command("logs")
    .description(t.about)
    .argument("[target]", text.help.target)
    .option("-f, --follow", t.follow)
    .option("-n, --lines <n>", t.lines, countArgument(text))
    .option("--tail <n>", t.tail, countArgument(text))
    .option("--since <duration>", t.since, durationArgument(text))
    .option("--grep <regexp>", t.grep)
    .option("--request <id>", t.request)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples([
        "owlctl logs -f",
        "owlctl logs web --tail 200",
        "owlctl logs proxy --since 10m",
        "owlctl logs owld",
        "owlctl logs worker-3 --since 10m --grep 'ERROR|WARN'",
        "owlctl logs -f --request 3f0c5b1e-8a52-4d4e-9a43-0f6f6d1c9b77",
      ]),
    )
    .action(
      deps.run((target: string | undefined, { tail, ...options }: Options) => {
        const asked = tail === undefined ? options : { ...options, lines: tail };
        // owld's own log goes to its terminal or the journal; what it notes there it keeps as events.
        return target === "owld" ? events(undefined, asked, deps) : logs(target, asked, deps);
      }),
    );
}

async function logs(target: string | undefined, options: Options, deps: CommandDeps): Promise<undefined> {
  const { clock, signal, text } = deps;
  const grep = options.grep === undefined ? null : patternOf(options.grep);
  if (grep === undefined) throw new OwlError("usage.grep", text.errors.grep(options.grep ?? ""));
  const { request } = options;
  const isWanted = (line: string): boolean =>
    (grep === null || grep.test(line)) && (request === undefined || line.includes(request));
  const print = printer(options.json ?? false, deps);
  // The expression runs here: in owld, one that takes for ever would stop everything.
  const isFiltered = grep !== null || request !== undefined;
  const filter = isFiltered ? createFilter(isWanted, options.lines ?? 50, print) : null;
  const show = filter?.show ?? print;
  // After a break only what is new: the lines shown so far would come again otherwise.
  for (let first = true; ; first = false) {
    const query = new URLSearchParams();
    if (target !== undefined) query.set("target", target);
    const lines = first ? (options.lines ?? (options.since === undefined ? 50 : null)) : 0;
    const sinceMs = first ? (options.since ?? (filter === null ? undefined : EVERYTHING_MS)) : undefined;
    if (lines !== null && (filter === null || !first)) query.set("lines", String(lines));
    if (sinceMs !== undefined) query.set("sinceMs", String(sinceMs));
    if (options.follow) query.set("follow", "1");
    if (options.follow && filter !== null) query.set("mark", "1");
    try {
      for await (const line of deps.client().lines<LogLine>(ROUTES.logs(query), signal)) show(line);
      filter?.flush();
      if (!options.follow) return;
    } catch (error) {
      if (error instanceof Interrupted || signal.aborted) return;
      if (first && (error as OwlError).code !== "daemon.gone") throw error;
      if (!options.follow || !isAway(error)) throw error;
    }
    if (signal.aborted) return;
    await clock.sleep(300, signal).catch(() => undefined);
  }
}

function printer(json: boolean, { terminal }: CommandDeps): (line: LogLine) => void {
  if (json) return (line) => terminal.out(JSON.stringify(line));
  const colours = new Map<string, Colour>();
  return ({ instance, line }) => {
    const colour = colours.get(instance) ?? COLOURS[colours.size % COLOURS.length] ?? "cyan";
    colours.set(instance, colour);
    terminal.out(`${terminal.paintOut(`${instance} |`, colour)} ${line}`);
  };
}

/** Keeps the newest `count` past lines that match, and prints new ones as they come. */
function createFilter(isWanted: (line: string) => boolean, count: number, print: (line: LogLine) => void) {
  let kept: LogLine[] | null = [];
  const flush = (): void => {
    const past = kept ?? [];
    kept = null;
    for (const line of past.slice(-count)) print(line);
  };
  return {
    flush,
    show(line: LogLine): void {
      if (line.isMark) flush();
      else if (!isWanted(line.line)) return;
      else if (kept === null) print(line);
      else if (kept.push(line) >= 2 * count + 1_000) kept = kept.slice(-count);
    },
  };
}

/** undefined for a text that is no expression. */
function patternOf(source: string): RegExp | undefined {
  // A pattern that is only wrong in Unicode mode (an escaped `-`, say) is what many people type.
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // The other mode may take it.
    }
  }
  return undefined;
}
