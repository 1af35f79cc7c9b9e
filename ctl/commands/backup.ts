// `owlctl backup [--now] list|show|verify`: taking one is owld's; looking at those there are needs no owld.

import type { Command } from "commander";
import { type BackupStatus, EXIT, type Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { formatSize } from "../../config/units.ts";
import { askBackups, backupPlace } from "../backup-program.ts";
import type { CommandDeps } from "../deps.ts";
import { elapsed } from "../render/figures.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

const LOOK_MS = 500;

interface Options {
  readonly now?: boolean;
  readonly json?: boolean;
  readonly passphraseFile?: string;
  readonly backup?: string;
}

interface Listed {
  readonly backups: readonly {
    readonly id: string;
    readonly version: string;
    readonly postgresMajor: number;
    readonly bytes: number;
    readonly counts: Readonly<Record<string, number>>;
  }[];
  readonly unreadable: readonly string[];
  readonly logUntil: string | null;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.backup;
  const backup = program
    .command("backup")
    .description(t.about)
    .option("--now", t.now)
    .option("--json", text.help.json)
    .addHelpText(
      "after",
      text.examples(["owlctl backup --now", "owlctl backup list", "owlctl backup verify /mnt/backup"]),
    )
    .action(
      deps.run(async (options: Options) => {
        if (options.now) return await takeNow(options, deps);
        return await list(undefined, options, deps);
      }),
    );
  const places = (command: Command) =>
    command.argument("[dir]", t.dir).option("--passphrase-file <file>", t.passphrase).option("--json", text.help.json);
  places(backup.command("list").description(t.list)).action(
    deps.run((dir: string | undefined, _: Options, command: Command) => list(dir, command.optsWithGlobals(), deps)),
  );
  for (const verb of ["show", "verify"] as const)
    places(backup.command(verb).description(t[verb]).option("--backup <id>", t.id)).action(
      deps.run((dir: string | undefined, _: Options, command: Command) =>
        look(verb, dir, command.optsWithGlobals(), deps),
      ),
    );
}

async function list(dir: string | undefined, options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const t = text.commands.backup;
  const place = await backupPlace(dir, options.passphraseFile, deps);
  const { backups, unreadable, logUntil } = await askBackups<Listed>({ ask: "list", ...place }, deps, () => undefined);
  if (options.json) terminal.out(JSON.stringify({ backups, unreadable, logUntil }));
  else if (backups.length === 0) terminal.out(t.none);
  else {
    const rows = backups.map((one) => [
      one.id,
      one.version,
      String(one.postgresMajor),
      formatSize(one.bytes),
      String(Object.values(one.counts).reduce((sum, count) => sum + count, 0)),
    ]);
    for (const line of table(t.columns, rows, terminal.paintOut)) terminal.out(line);
    if (logUntil !== null) terminal.out(t.logUntil(logUntil));
  }
  if (!options.json) for (const id of unreadable) terminal.err(t.unreadable(id));
  return EXIT.done;
}

async function look(
  ask: "show" | "verify",
  dir: string | undefined,
  options: Options,
  deps: CommandDeps,
): Promise<number> {
  const { terminal, text } = deps;
  const place = await backupPlace(dir, options.passphraseFile, deps);
  const question = { ask, ...place, backup: options.backup ?? null };
  const say = (id: string) => terminal.err(text.commands.backup.verifying(id));
  const answer = await askBackups<{ readonly verified?: readonly string[] }, string>(question, deps, say);
  if (ask === "show" || options.json) terminal.out(JSON.stringify(answer, null, options.json ? undefined : 2));
  else for (const id of answer.verified ?? []) terminal.out(text.commands.backup.verified(id));
  return EXIT.done;
}

async function takeNow(options: Options, deps: CommandDeps): Promise<number> {
  const { clock, signal, terminal, text } = deps;
  const t = text.commands.backup;
  const client = deps.client();
  const status = async (): Promise<BackupStatus | null> => (await client.get<Status>(ROUTES.status)).backup ?? null;
  const before = (await status())?.last?.id ?? null;
  await client.send("POST", ROUTES.backups);
  if (!options.json) terminal.err(t.waiting);
  let begun = false;
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    const now = await status();
    if (now?.last && now.last.id !== before) {
      const { last } = now;
      terminal.out(
        options.json ? JSON.stringify(last) : t.taken(last.id, formatSize(last.bytes), elapsed(last.elapsedMs)),
      );
      return EXIT.done;
    }
    begun ||= now?.running === true;
    if (now === null || (begun && !now.running) || (!now.running && now.problem !== null))
      throw new OwlError("backup.failed", now?.problem ?? t.none);
  }
}
