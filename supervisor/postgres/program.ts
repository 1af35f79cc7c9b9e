// Runs one of PostgreSQL's short-lived programs to its end, as PostgreSQL's account.
// Invariant: nothing of owld's own environment reaches it but what is named here.

import { execa } from "execa";
import { dropPrivileges } from "../process/user-switch.ts";
import type { Account } from "./account.ts";

interface ProgramResult {
  readonly ok: boolean;
  /** Standard output and error together, as they came. */
  readonly output: string;
}

/** What every PostgreSQL process gets: plain C messages, which are also what we look for. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

/** Runs `file`; never rejects (not startable is `ok: false` with the reason as output). */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: {
    readonly account?: Account | null;
    readonly signal?: AbortSignal;
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
  } = {},
): Promise<ProgramResult> {
  const { account, signal, env = {}, cwd = "/" } = options;
  const [command, ...rest] = dropPrivileges([file, ...args]);
  const result = await execa(command, rest, {
    cwd,
    env: { ...PROGRAM_ENV, ...env },
    extendEnv: false,
    all: true,
    reject: false,
    stdin: "ignore",
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
    ...(signal ? { cancelSignal: signal } : {}),
  });
  const output = result.all ?? "";
  const failure = result.failed ? (result.shortMessage ?? "it failed without a word") : "";
  return { ok: !result.failed, output: output === "" ? failure : output };
}

/** The last meaningful lines of a program's output, as one line for an error sentence. */
export function lastLines(output: string, count = 3): string {
  const lines = output.split("\n").map((line) => line.trim());
  return lines.filter(Boolean).slice(-count).join(" | ");
}
