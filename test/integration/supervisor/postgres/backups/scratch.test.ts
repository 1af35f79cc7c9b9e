// A drill that is killed: its owld ends by itself, and the rest goes with the next look.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homePaths } from "../../../../../config/home.ts";
import { CODE_ROOT } from "../../../../../config/load.ts";
import { systemClock } from "../../../../../config/system-time.ts";
import { clearScratch, takeScratch } from "../../../../../supervisor/postgres/backups/scratch.ts";
import { poll } from "../../../../support/poll.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "owl-scratch-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const module = (path: string) => JSON.stringify(join(CODE_ROOT, path));
/** Takes a scratch home, starts owld in it and stays there. */
const DRILL = `
  import { homePaths } from ${module("config/home.ts")};
  import { systemClock } from ${module("config/system-time.ts")};
  import { freePort } from ${module("supervisor/process/free-port.ts")};
  import { takeScratch } from ${module("supervisor/postgres/backups/scratch.ts")};
  const scratch = await takeScratch(homePaths(process.argv[1]), systemClock);
  await scratch.whileUp(await freePort(), () => new Promise(() => setInterval(() => undefined, 1_000)));`;

test("an owld of a drill that is killed ends, two drills never share a home, and the next look clears the files", async () => {
  const drill = spawn(process.execPath, ["--input-type=module", "-e", DRILL, home], { stdio: "ignore" });
  const scratch = () => join(home, readdirSync(home).find((name) => name.startsWith("drill-")) ?? "none");
  const pidFile = () => join(scratch(), "state/owld.pid");
  await poll(() => existsSync(pidFile()) && readFileSync(pidFile(), "utf8").endsWith("\n"));
  const owld = Number(readFileSync(pidFile(), "utf8"));
  await expect(takeScratch(homePaths(home), systemClock)).rejects.toMatchObject({ code: "backup.drillRuns" });
  await clearScratch(homePaths(home), systemClock);
  expect(existsSync(pidFile())).toBe(true);

  const gone = new Promise((resolve) => drill.once("exit", resolve));
  drill.kill("SIGKILL");
  await gone;
  await poll(() => !existsSync(`/proc/${owld}/stat`) || / Z /.test(readFileSync(`/proc/${owld}/stat`, "utf8")));
  await clearScratch(homePaths(home), systemClock);
  expect(readdirSync(home)).toEqual(["drills"]);
}, 300_000);
