// `owlctl releases [SERVICE]`: the releases of a team's own code that lie here, and which one runs.

import type { Command } from "commander";
import type { ListedRelease } from "../../config/deploy-api.ts";
import type { CommandDeps } from "../deps.ts";
import { age, bytes } from "../render/figures.ts";
import { table } from "../render/table.ts";
import { ROUTES } from "../routes.ts";

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  program
    .command("releases")
    .description(text.commands.releases.about)
    .argument("[service]", text.help.service)
    .option("--json", text.help.json)
    .addHelpText("after", text.examples(["owlctl releases", "owlctl releases web --json"]))
    .action(deps.run((service: string | undefined, options: { json?: boolean }) => releases(service, options, deps)));
}

async function releases(
  service: string | undefined,
  { json = false }: { json?: boolean },
  { client, terminal, text, clock }: CommandDeps,
): Promise<undefined> {
  const all = await client().get<ListedRelease[]>(ROUTES.deploys);
  const shown = all.filter(
    ({ serves, stood }) => service === undefined || serves.includes(service) || service in stood,
  );
  if (json) {
    terminal.out(JSON.stringify(shown));
    return;
  }
  if (shown.length === 0) {
    terminal.out(text.commands.releases.none);
    return;
  }
  const [id, made, files, size, hash, serves, stood, from] = text.commands.releases.columns;
  const right = (title: string) => ({ title, align: "right" }) as const;
  const columns = [right(id), made, right(files), right(size), hash, serves, stood, from];
  const rows = shown.map((one) => [
    one.id,
    text.status.ago(age(clock.now() - Date.parse(one.madeAt))),
    String(one.files),
    bytes(one.bytes),
    one.sha256.slice(0, 12),
    terminal.paintOut(one.serves.join(", ") || "-", one.serves.length > 0 ? "green" : "dim"),
    Object.keys(one.stood).join(", ") || "-",
    one.from,
  ]);
  for (const line of table(columns, rows, terminal.paintOut)) terminal.out(line);
}
