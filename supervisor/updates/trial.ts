// A new owld on trial: `switch` makes its release current and leaves OWL_HOME/trial, by which the launcher (supervisor/trial,
// a shell script) counts its starts. Up, it removes the file; not up by the third start, the launcher flips `current`
// back and starts the owld before it, which finds here why.

import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import { replaceFile } from "../release/sync.ts";

interface Trial {
  readonly to: string;
  /** What `current` pointed to before; empty: there was no link. */
  readonly back: string;
  readonly starts: number;
  /** How each start ended. */
  readonly ends: readonly string[];
}

const fileOf = (paths: HomePaths): string => join(paths.home, "trial");

/** On record before `current` names the release, so that no start of it goes uncounted. */
export function beginTrial(paths: HomePaths, from: ReleaseRef, to: ReleaseRef): void {
  const lines = [
    `to=${realpathSync(to.path)}`,
    `from=${realpathSync(from.path)}`,
    `back=${currentOf(paths)}`,
    "starts=0",
  ];
  replaceFile(fileOf(paths), `${lines.join("\n")}\n`);
}

/** Releases from before trials have no launcher that counts: they become current as they are. */
export function knowsTrial(release: ReleaseRef): boolean {
  return existsSync(join(release.path, "supervisor/trial"));
}

export function readTrial(paths: HomePaths): Trial | null {
  let text: string;
  try {
    text = readFileSync(fileOf(paths), "utf8");
  } catch {
    return null;
  }
  const all = (key: string) =>
    text.split("\n").flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
  return {
    to: all("to")[0] ?? "",
    back: all("back")[0] ?? "",
    starts: Number(all("starts")[0] ?? 0),
    ends: all("end"),
  };
}

export function endTrial(paths: HomePaths): void {
  rmSync(fileOf(paths), { force: true });
}

function currentOf(paths: HomePaths): string {
  try {
    return readlinkSync(join(paths.home, "current"));
  } catch {
    return "";
  }
}
