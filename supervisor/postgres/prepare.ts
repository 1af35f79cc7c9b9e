// The one-shot step before services start: `node services/prepare/main.ts` makes queues, the first administrator,
// demo data. owld only runs it, tells its progress, and turns its failure into one sentence.

import { join } from "node:path";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";
import { dropPrivileges } from "../process/user-switch.ts";
import { lastLines } from "./program.ts";

export interface PrepareRun {
  /** Directory of the release's code. */
  readonly codeRoot: string;
  /** The node that runs owld. */
  readonly node: string;
  /** The whole environment it gets: secrets go here and never into its arguments. */
  readonly env: Readonly<Record<string, string>>;
  readonly say: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Runs it to its end. Throws `prepare.failed` with its last lines. */
export async function runPrepare({ codeRoot, node, env, say, signal }: PrepareRun): Promise<void> {
  const [command, ...args] = dropPrivileges([node, join("services", "prepare", "main.ts")]);
  const running = execa(command, args, {
    cwd: codeRoot,
    env,
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
  throw new OwlError("prepare.failed", `Preparing the application failed: ${words}.`, {
    next: "Start Owl again when it is resolved; what was prepared is kept.",
  });
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
