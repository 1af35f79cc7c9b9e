// Has a staged release judge the installation it is to run on: its own preflight, by its own code and Node.
// Invariant: nothing is changed by it, and no secret goes through its arguments.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { EXIT, type PreflightLine } from "../../config/control-api.ts";
import type { Language } from "../../config/language.ts";
import { pinnedNode } from "../../config/load.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { ReleaseRef } from "../core/update-course.ts";

/** What the running owld knows and a program of its own cannot read. */
export interface ReleasePreflight {
  /** owl.yaml, null: none. */
  readonly file: string | null;
  readonly cwd: string;
  readonly databaseUrl: string | null;
  readonly ownPids: readonly number[];
  readonly largestInstanceBytes: number | null;
  /** In which language to say it. Absent, or not known to that release: the installation's. */
  readonly language?: Language;
}

export const RELEASE_PREFLIGHT_ENV = "OWL_PREFLIGHT";
const OWLD = join("supervisor", "main.ts");
const SCRIPT = join("supervisor", "preflight", "preflight-once.ts");
const BOUND_MS = 60_000;

/**
 * The lines of that release's preflight; none for an older one that has no such program. First its owld is loaded: what
 * ends there would end at its start too, when `current` points to it and nobody is left to take it back.
 * Throws `release.owld` where it cannot be loaded, `release.config` where its code refuses the configuration,
 * `release.preflight` where it could not judge.
 */
export async function checkRelease(request: {
  readonly release: ReleaseRef;
  readonly home: string;
  /** owld's own, whole: owl.yaml may name any variable of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly given: ReleasePreflight;
  readonly signal: AbortSignal;
}): Promise<readonly PreflightLine[]> {
  const { release, signal, given } = request;
  const run = async (args: readonly string[]) => {
    const result = await execa(pinnedNode(release.path), args, {
      cwd: release.path,
      env: { ...request.environment, OWL_HOME: request.home, [RELEASE_PREFLIGHT_ENV]: JSON.stringify(given) },
      extendEnv: false,
      reject: false,
      stdin: "ignore",
      timeout: BOUND_MS,
      cancelSignal: signal,
    });
    signal.throwIfAborted();
    const words = result.stderr.trim() || (result.failed ? (result.shortMessage ?? "") : "");
    return { ...result, words };
  };
  if (existsSync(join(release.path, OWLD))) {
    const { failed, words } = await run([OWLD, "--version"]);
    if (failed)
      throw new Refusal("release.owld", (text) => text.refused.release.owld(release.version, errorLine(words)));
  }
  if (!existsSync(join(release.path, SCRIPT))) return [];
  const { words, ...result } = await run([SCRIPT]);
  if (result.exitCode === EXIT.config)
    throw new Refusal("release.config", (text) => text.refused.release.configuration(release.version, words));
  const lines = linesOf(result.stdout);
  if (result.failed || lines === null)
    throw new Refusal("release.preflight", (text) => text.refused.release.preflight(release.version, words));
  return lines;
}

/** Of what Node prints around an uncaught error, the line that tells it. */
function errorLine(words: string): string {
  return words.split("\n").find((line) => /^\w*Error\b/.test(line)) ?? words;
}

function linesOf(text: string): readonly PreflightLine[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as PreflightLine[]) : null;
  } catch {
    return null;
  }
}
