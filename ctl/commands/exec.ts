// `owlctl exec SERVICE|INSTANCE -- CMD`: as `owlctl run`, with the environment of an instance that serves.

import type { Command } from "commander";
import type { CommandDeps } from "../deps.ts";
import { add } from "./run.ts";

export function register(program: Command, deps: CommandDeps): void {
  add(program, deps, "exec", ["owlctl exec web -- ls", "owlctl exec web-7 -- sh -c 'echo $OWL_SOCKET'"]);
}
