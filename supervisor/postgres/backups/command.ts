// `backup.command`: a tool of the team's choice that carries the directory elsewhere, after each backup.
// Invariant: it gets nothing of owld's environment but HOME, USER and a plain PATH.

import { execa } from "execa";
import type { BackupConfig } from "../../../config/config.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { lastLines, PROGRAM_ENV } from "../program.ts";

const LONGEST_MS = 6 * 3_600_000;

/** null: it did its work, or none is named. */
export async function runBackupCommand(
  { command, directory }: Pick<BackupConfig, "command" | "directory">,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const [name, ...args] = command ?? [];
  if (name === undefined) return null;
  const filled = args.map((one) => one.replaceAll("{directory}", directory));
  const { HOME, USER } = process.env;
  const result = await execa(name, filled, {
    cwd: directory,
    env: { ...PROGRAM_ENV, ...(HOME ? { HOME } : {}), ...(USER ? { USER } : {}) },
    extendEnv: false,
    all: true,
    reject: false,
    stdin: "ignore",
    timeout: LONGEST_MS,
    cancelSignal: signal,
    maxBuffer: { all: 2 ** 20 },
  });
  if (!result.failed) return null;
  const how = lastLines(result.all ?? "") || (result.shortMessage ?? "");
  return new Refusal("backup.command", ({ refused }) => refused.backup.command(name, how));
}
