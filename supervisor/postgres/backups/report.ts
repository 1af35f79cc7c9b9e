// What the backup program tells owld, a JSON line each, and what it is started with.

import type { BackupConfig } from "../../../config/config.ts";
import { dropPrivileges } from "../../process/user-switch.ts";

export const BACKUP_ENV = "OWL_BACKUP";

/** In OWL_BACKUP: never in arguments, for the URLs hold passwords. */
export interface BackupTask {
  readonly backup: BackupConfig;
  readonly home: string;
  readonly configFile: string | null;
  readonly adminUrl: string;
  readonly url: string;
  readonly installation: string;
  readonly holder: string;
  readonly held: boolean;
  readonly generation: number;
  /** How often an older database was put in place. */
  readonly epoch: number;
  readonly version: string;
}

/** A sentence in both languages, from one process to the other. */
export interface Told {
  readonly code: string;
  readonly en: string;
  readonly ko: string;
}

export type BackupReport =
  /** The directory is ours from now on, or its mark says something new. */
  | { readonly kind: "held"; readonly generation: number; readonly standby: boolean }
  /** A standby had all of the directory. */
  | { readonly kind: "followed"; readonly atMs: number }
  /** Free on the directory's disk. */
  | { readonly kind: "space"; readonly freeBytes: number }
  | { readonly kind: "log"; readonly atMs: number; readonly lagMs: number }
  | { readonly kind: "began" }
  | {
      readonly kind: "finished";
      readonly id: string;
      readonly atMs: number;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  /** What is in the way of `part`; null: nothing any more. */
  | {
      readonly kind: "problem";
      readonly part: "log" | "uploads" | "backup" | "command";
      readonly problem: Told | null;
    };

/** A line on the program's standard input: a backup at once. */
export const NOW = "now";

/** How the program is started, from the folder of the code. */
export function backupProgram(verb: "serve" | "ask"): readonly [string, ...string[]] {
  return dropPrivileges([
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "supervisor/postgres/backups/main.ts",
    verb,
  ]);
}
