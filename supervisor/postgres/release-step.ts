// Runs one program of a release to its end (migrate-once, prepare): the release's own code with its own
// Node, its output told as progress, its failure one sentence.

import { join } from "node:path";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";
import { dropPrivileges } from "../process/user-switch.ts";
import { lastLines } from "./program.ts";

export interface ReleaseStep {
  /** Directory of the release's code. */
  readonly codeRoot: string;
  /** That release's Node. */
  readonly node: string;
  /** Relative to codeRoot. */
  readonly script: string;
  readonly args?: readonly string[];
  /** The whole environment it gets: secrets go here and never into its arguments. */
  readonly env: Readonly<Record<string, string>>;
  /** What failed, for the sentence: "Preparing the application". */
  readonly what: string;
  readonly code: string;
  readonly next: string;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Runs it to its end. Throws OwlError `code` with its last lines. */
export async function runReleaseStep(step: ReleaseStep): Promise<void> {
  const { say, signal } = step;
  const [command, ...args] = dropPrivileges([step.node, step.script, ...(step.args ?? [])]);
  const running = execa(command, args, {
    cwd: step.codeRoot,
    env: step.env,
    extendEnv: false,
    all: true,
    reject: false,
    stdin: "ignore",
    cancelSignal: signal,
    // It may hold a transaction open: SIGTERM first, which it ends cleanly on.
    forceKillAfterDelay: 10_000,
  });
  const other: string[] = [];
  for await (const line of running.iterable({ from: "all" })) {
    const message = progressOf(line);
    if (message !== null) say(message);
    else {
      other.push(line);
      if (other.length > 50) other.shift();
    }
  }
  const result = await running;
  signal.throwIfAborted();
  if (!result.failed) return;
  const words = lastLines(other.join("\n")) || result.shortMessage || "it said nothing";
  throw new OwlError(step.code, `${step.what} failed: ${words.replace(/\.$/, "")}.`, { next: step.next });
}

/** Progress is `{"message": "..."}` on a line; anything else is output for the failure's sentence. */
function progressOf(line: string): string | null {
  if (!line.startsWith("{")) return null;
  try {
    const { message, error } = JSON.parse(line) as { message?: unknown; error?: unknown };
    return typeof message === "string" && error === undefined ? message : null;
  } catch {
    return null;
  }
}

/** Where the steps lie in every release. */
export const RELEASE_SCRIPTS = {
  migrate: join("supervisor", "postgres", "migrate-once.ts"),
  prepare: join("services", "prepare", "main.ts"),
} as const;
