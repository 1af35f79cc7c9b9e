// Every command of owlctl: its name and where its code is. `owlctl NAME` imports that file only, so that it starts fast;
// each file exports `register(program, deps)` and adds the command under this name.

import type { Command } from "commander";
import type { CommandDeps } from "./deps.ts";

interface CommandModule {
  register(program: Command, deps: CommandDeps): void;
}

/** In the order `owlctl --help` shows them. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  status: () => import("./commands/status.ts"),
  top: () => import("./commands/top.ts"),
  why: () => import("./commands/why.ts"),
  logs: () => import("./commands/logs.ts"),
  events: () => import("./commands/events.ts"),
  restart: () => import("./commands/restart.ts"),
  rollout: () => import("./commands/rollout.ts"),
  reload: () => import("./commands/reload.ts"),
  scale: () => import("./commands/scale.ts"),
  start: () => import("./commands/start.ts"),
  stop: () => import("./commands/stop.ts"),
  kill: () => import("./commands/kill.ts"),
  run: () => import("./commands/run.ts"),
  exec: () => import("./commands/exec.ts"),
  env: () => import("./commands/env.ts"),
  "daemon-reexec": () => import("./commands/daemon-reexec.ts"),
  preflight: () => import("./commands/preflight.ts"),
  config: () => import("./commands/config.ts"),
  batch: () => import("./commands/batch.ts"),
  schedule: () => import("./commands/schedule.ts"),
  turns: () => import("./commands/turns.ts"),
  user: () => import("./commands/user.ts"),
  backup: () => import("./commands/backup.ts"),
  restore: () => import("./commands/restore.ts"),
  standby: () => import("./commands/standby.ts"),
  postgres: () => import("./commands/postgres.ts"),
  drill: () => import("./commands/drill.ts"),
  notify: () => import("./commands/notify.ts"),
  install: () => import("./commands/install.ts"),
  uninstall: () => import("./commands/uninstall.ts"),
  deploy: () => import("./commands/deploy.ts"),
  releases: () => import("./commands/releases.ts"),
  update: () => import("./commands/update.ts"),
  rollback: () => import("./commands/rollback.ts"),
  export: () => import("./commands/export.ts"),
  completion: () => import("./commands/completion.ts"),
  version: () => import("./commands/version.ts"),
};

/** The first word of the command line that is a command; null: none, so all are needed (help, mistakes). */
export function wantedCommand(argv: readonly string[]): string | null {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--socket") index += 1;
    else if (!word.startsWith("-")) return word in COMMANDS ? word : null;
    else if (word === "--help" || word === "-h" || word === "--version" || word === "-V") return null;
  }
  return null;
}
