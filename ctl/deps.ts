// What every command gets, built once in main.ts: the catalogue, the terminal, the clock, the way to owld.

import type { Command } from "commander";
import type { Language } from "../config/language.ts";
import type { Environment } from "../config/locate.ts";
import type { Clock } from "../config/time.ts";
import type { ControlClient } from "./client.ts";
import type { Terminal } from "./render/terminal.ts";
import type { Text } from "./text/text.ts";

export interface CommandDeps {
  readonly text: Text;
  readonly language: Language;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly env: Environment;
  readonly cwd: string;
  /** Aborted (with Interrupted) by the first Ctrl-C. A command that watches passes it on. */
  readonly signal: AbortSignal;
  /** The client for --socket, OWL_CONTROL_SOCKET, OWL_HOME, ... Connects at the first request only. */
  client(): ControlClient;
  /** Adds every command there is to `program`. */
  registerAll(program: Command): Promise<void>;
  /** Wraps a commander action: its returned number becomes the exit code, nothing returned is 0. */
  run<A extends readonly unknown[]>(action: (...args: A) => Promise<number | undefined>): (...args: A) => Promise<void>;
}
