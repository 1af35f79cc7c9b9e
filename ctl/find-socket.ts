// Where the daemon's control socket is: --socket, OWL_CONTROL_SOCKET, OWL_HOME, ./.owl, /run/owl, in this order.
// Invariant: whoever names a place gets that place or an error, never another daemon.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { homePaths } from "../config/home.ts";
import { type Environment, given } from "../config/locate.ts";

export interface FoundSocket {
  readonly path: string;
  /** How it was found, for messages: `--socket`, `OWL_HOME`, ... */
  readonly by: string;
}

/** The socket to talk to. Nothing named and nothing there: the foreground's place, for the message. */
export function findSocket(flag: string | undefined, env: Environment, cwd: string, exists = existsSync): FoundSocket {
  if (flag !== undefined) return { path: resolve(cwd, flag), by: "--socket" };
  const named = given(env.OWL_CONTROL_SOCKET);
  if (named !== null) return { path: resolve(cwd, named), by: "OWL_CONTROL_SOCKET" };
  const home = given(env.OWL_HOME);
  if (home !== null) return { path: homePaths(resolve(cwd, home)).controlSocket, by: "OWL_HOME" };
  const local = homePaths(join(cwd, ".owl")).controlSocket;
  const system = "/run/owl/control.sock";
  if (exists(local)) return { path: local, by: "./.owl" };
  if (exists(system)) return { path: system, by: "/run/owl" };
  return { path: local, by: "./.owl, /run/owl" };
}
