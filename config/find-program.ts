// The file a command's first word stands for: as it is with a slash in it, else found in the process's own PATH.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { HealthConfig, ServiceConfig } from "./config.ts";

type FoundProgram = { readonly file: string } | { readonly missing: string } | { readonly unfit: string };

/** `check`: the command of its health check. */
export interface MissingProgram {
  readonly kind: "cwd" | "command" | "unfit" | "check";
  readonly what: string;
}

/** `unfit`: it is there and cannot be executed. */
export function findProgram(name: string, cwd: string, path = "/usr/local/bin:/usr/bin:/bin"): FoundProgram {
  const places = name.includes("/")
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : path.split(delimiter).map((directory) => join(resolve(cwd, directory), name));
  const file = places.find((place) => !isDirectory(place) && mayExecute(place));
  if (file !== undefined) return { file };
  const there = places.find((place) => existsSync(place));
  return there === undefined ? { missing: name } : { unfit: there };
}

/** What keeps a service from being started at all, as the file system stands now; null: nothing. */
export function missingProgram(
  service: Pick<ServiceConfig, "command" | "cwd" | "env"> & { readonly health?: Pick<HealthConfig, "check"> },
  inheritedPath: string | undefined,
): MissingProgram | null {
  // It has files alone.
  if (service.command.length === 0) return null;
  if (!isDirectory(service.cwd)) return { kind: "cwd", what: service.cwd };
  const path = service.env.PATH ?? inheritedPath;
  const found = missingOf(service.command, service.cwd, path);
  if (found !== null)
    return "missing" in found ? { kind: "command", what: found.missing } : { kind: "unfit", what: found.unfit };
  const check = service.health?.check;
  const checker = check?.kind === "command" ? missingOf(check.command, service.cwd, path) : null;
  if (checker === null) return null;
  return { kind: "check", what: "missing" in checker ? checker.missing : checker.unfit };
}

function missingOf([program = ""]: readonly string[], cwd: string, path: string | undefined) {
  // A placeholder in it is filled in only when an instance starts.
  if (program.includes("{")) return null;
  const found = findProgram(program, cwd, path);
  return "file" in found ? null : found;
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function mayExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
