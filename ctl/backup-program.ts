// Asks the backup program, which needs no running owld: one JSON line in, steps and a result out.
// Invariant: no secret travels by arguments, only names of files that hold one.

import { existsSync } from "node:fs";
import { execa } from "execa";
import { OwlError } from "../config/errors.ts";
import { CODE_ROOT } from "../config/load.ts";
import type { CommandDeps } from "./deps.ts";
import type { Text } from "./text/text.ts";

const PROGRAM = "supervisor/postgres/backups/main.ts";

/** What a restore and a drill go through. */
export type BackupStep = keyof Text["commands"]["backup"]["steps"];

interface Line {
  readonly step?: string;
  readonly result?: unknown;
  readonly problem?: { readonly code: string; readonly sentence: string; readonly next: string | null };
}

/** Throws what the program found in the way, in the reader's language. */
export async function askBackups<T, Step extends string = BackupStep>(
  question: Readonly<Record<string, unknown>> & { readonly ask: string },
  deps: CommandDeps,
  step: (name: Step) => void,
): Promise<T> {
  const { env, cwd, language, signal, text } = deps;
  const asked = execa(process.execPath, ["--disable-warning=ExperimentalWarning", `${CODE_ROOT}/${PROGRAM}`, "ask"], {
    cwd,
    env: { ...env },
    extendEnv: false,
    input: JSON.stringify({ ...question, language }),
    reject: false,
    buffer: { stdout: false },
    cancelSignal: signal,
    forceKillAfterDelay: 60_000,
  });
  let last: Line = {};
  for await (const line of asked) {
    const told = JSON.parse(line) as Line;
    if (told.step !== undefined) step(told.step as Step);
    else last = told;
  }
  const ended = await asked;
  signal.throwIfAborted();
  if (last.problem !== undefined) {
    const { code, sentence, next } = last.problem;
    throw new OwlError(code, sentence, next === null ? {} : { next });
  }
  if (last.result === undefined)
    throw new OwlError("backup.program", text.commands.backup.program(String(ended.stderr || ended.shortMessage)));
  return last.result as T;
}

/** Which directory, and whose passphrase: as named, else as owl.yaml says. */
export async function backupPlace(
  named: string | undefined,
  passphraseFile: string | undefined,
  deps: CommandDeps,
): Promise<{ readonly directory: string; readonly passphraseFile: string | null }> {
  const { resolve } = await import("node:path");
  const { loadConfig } = await import("../config/load.ts");
  const { locateConfigFile } = await import("../config/locate.ts");
  const { env, cwd, text } = deps;
  // On a new machine the file that is named may be what the restore brings back.
  const file = locateConfigFile(null, env, cwd)?.file ?? null;
  const absent = file !== null && !existsSync(file) ? { source: null } : {};
  const { backup } = loadConfig({ env, cwd, userProblem: () => null, ...absent });
  const directory = named === undefined ? backup?.directory : resolve(cwd, named);
  if (directory === undefined)
    throw new OwlError("usage.backup", text.commands.backup.noDirectory, {
      next: text.commands.backup.noDirectoryNext,
    });
  const key = passphraseFile === undefined ? backup?.passphraseFile : resolve(cwd, passphraseFile);
  return { directory, passphraseFile: key ?? null };
}
