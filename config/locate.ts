// Where owl.yaml and the state directory are: the questions before any file is read.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** owl.yaml: the flag, then OWL_CONFIG, then ./owl.yaml when there is one. `asked`: someone named it, so it must exist. */
export function locateConfigFile(
  flag: string | null,
  env: Environment,
  cwd: string,
): { file: string; asked: boolean } | null {
  const named = flag ?? given(env.OWL_CONFIG);
  if (named !== null) return { file: resolve(cwd, named), asked: true };
  const here = join(cwd, "owl.yaml");
  return existsSync(here) ? { file: here, asked: false } : null;
}

/** OWL_HOME, then systemd's STATE_DIRECTORY, then ./.owl; absolute. */
export function locateHome(env: Environment, cwd: string): string {
  const named = given(env.OWL_HOME) ?? given(env.STATE_DIRECTORY)?.split(":")[0] ?? null;
  return resolve(cwd, named ?? ".owl");
}

/** A variable's value, with the empty text taken as not given. */
export function given(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}
