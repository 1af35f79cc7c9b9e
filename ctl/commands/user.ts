// `owlctl user add|list|passwd|disable|enable|delete`: accounts of the bundled application. Passwords never come by argv.

import { text as readText } from "node:stream/consumers";
import type { Command } from "commander";
import { EXIT } from "../../config/control-api.ts";
import { confirmed } from "../confirm.ts";
import type { CommandDeps } from "../deps.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

interface Account {
  readonly name: string;
  readonly role: "admin" | "user";
  readonly disabled: boolean;
  readonly createdAt: string;
}

interface Made {
  readonly name: string;
  readonly password: string | null;
}

interface Options {
  readonly admin?: boolean;
  readonly passwordStdin?: boolean;
  readonly json?: boolean;
  readonly yes?: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.user;
  const user = program
    .command("user")
    .description(t.about)
    .addHelpText(
      "after",
      text.examples(["owlctl user add mina", "owlctl user passwd admin --password-stdin < file", "owlctl user list"]),
    );
  user
    .command("add")
    .description(t.add)
    .argument("<name>", t.name)
    .option("--admin", t.admin)
    .option("--password-stdin", t.stdin)
    .option("--json", text.help.json)
    .action(deps.run((name: string, options: Options) => add(name, options, deps)));
  user
    .command("list")
    .description(t.list)
    .option("--json", text.help.json)
    .action(deps.run((options: Options) => list(options, deps)));
  user
    .command("passwd")
    .description(t.passwd)
    .argument("<name>", t.name)
    .option("--password-stdin", t.stdin)
    .option("--json", text.help.json)
    .action(deps.run((name: string, options: Options) => passwd(name, options, deps)));
  user
    .command("delete")
    .description(t.delete)
    .argument("<name>", t.name)
    .option("-y, --yes", text.help.yes)
    .option("--json", text.help.json)
    .action(deps.run((name: string, options: Options) => remove(name, options, deps)));
  for (const verb of ["disable", "enable"] as const) {
    user
      .command(verb)
      .description(t[verb])
      .argument("<name>", t.name)
      .option("--json", text.help.json)
      .action(deps.run((name: string, options: Options) => switchTo(verb, name, options, deps)));
  }
}

async function remove(name: string, options: Options, deps: CommandDeps): Promise<number> {
  const { client, terminal, text } = deps;
  const t = text.commands.user;
  if (!options.yes && !(await confirmed(t.confirmDelete(name), deps))) {
    terminal.err(t.kept);
    return EXIT.failed;
  }
  const answer = await client().send<unknown>("DELETE", ROUTES.app(`/users/${encodeURIComponent(name)}`));
  terminal.out(options.json ? JSON.stringify(answer) : t.deleted(name));
  return EXIT.done;
}

async function passwordOf(options: Options): Promise<{ password?: string }> {
  return options.passwordStdin ? { password: (await readText(process.stdin)).replace(/\r?\n$/, "") } : {};
}

async function add(name: string, options: Options, deps: CommandDeps): Promise<number> {
  const body = { name, role: options.admin ? "admin" : "user", ...(await passwordOf(options)) };
  const made = await deps.client().send<Made>("POST", ROUTES.app("/users"), body);
  return sayMade(made, deps.text.commands.user.added(name), options, deps);
}

async function passwd(name: string, options: Options, deps: CommandDeps): Promise<number> {
  const path = ROUTES.app(`/users/${encodeURIComponent(name)}/password`);
  const made = await deps.client().send<Made>("POST", path, await passwordOf(options));
  return sayMade(made, deps.text.commands.user.changed(name), options, deps);
}

/** The password is shown this once. */
function sayMade(made: Made, done: string, { json }: Options, { terminal, text }: CommandDeps): number {
  terminal.out(json ? JSON.stringify(made) : done);
  if (!json && made.password) terminal.out(text.commands.user.password(made.password));
  return EXIT.done;
}

async function list(options: Options, { client, terminal, text }: CommandDeps): Promise<number> {
  const t = text.commands.user;
  const { items } = await client().get<{ items: readonly Account[] }>(ROUTES.app("/users"));
  if (options.json) terminal.out(JSON.stringify(items));
  else {
    const rows = items.map((one) => [
      one.name,
      t.roles[one.role] ?? one.role,
      one.disabled ? t.states.disabled : t.states.active,
      one.createdAt,
    ]);
    for (const line of table(t.columns, rows, terminal.paintOut)) terminal.out(line);
  }
  return EXIT.done;
}

async function switchTo(
  verb: "disable" | "enable",
  name: string,
  options: Options,
  { client, terminal, text }: CommandDeps,
): Promise<number> {
  const answer = await client().send<unknown>("POST", ROUTES.app(`/users/${encodeURIComponent(name)}/${verb}`), {});
  const t = text.commands.user;
  terminal.out(
    options.json ? JSON.stringify(answer ?? { name }) : verb === "disable" ? t.disabled(name) : t.enabled(name),
  );
  return EXIT.done;
}
