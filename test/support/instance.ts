// A directory with a spawner, for tests of real processes: nothing it started is left afterwards.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../config/system-time.ts";
import type { SpawnRequest } from "../../supervisor/ports.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";
import { createSpawner } from "../../supervisor/process/spawn.ts";
import { poll } from "./poll.ts";

export function program(name: string): string {
  return new URL(`./programs/${name}.ts`, import.meta.url).pathname;
}

export function createBench() {
  const home = mkdtempSync(join(tmpdir(), "owl-process-"));
  const mark = `mark-${home}`;
  const table = createProcessTable();
  const spawner = createSpawner({ clock: systemClock, table });
  let number = 0;
  const request = (argv: readonly [string, ...string[]], changes: Partial<SpawnRequest> = {}): SpawnRequest => {
    const instance = `web-${++number}`;
    return {
      instance,
      service: "web",
      argv,
      cwd: home,
      env: {
        PATH: process.env.PATH ?? "",
        OWL_MARK: mark,
        OWL_INSTANCE: instance,
        OWL_SERVICE: "web",
        OWL_RELEASE: "1.0.0",
      },
      user: null,
      umask: null,
      logFile: join(home, "logs", `${instance}.log`),
      exitFifo: join(home, "run", `${instance}.fifo`),
      ...changes,
    };
  };
  const log = (instance: string): string => readFileSync(join(home, "logs", `${instance}.log`), "utf8");
  return {
    home,
    mark,
    table,
    spawner,
    request,
    log,
    /** Starts a program of test/support/programs. */
    runProgram: (name: string) => spawner.spawn(request([process.execPath, program(name)])),
    /** Waits for a line in the log and answers its match. */
    async logged(instance: string, pattern: RegExp): Promise<RegExpExecArray> {
      await poll(() => pattern.test(log(instance)));
      const match = pattern.exec(log(instance));
      if (match === null) throw new Error(`no ${pattern} in the log`);
      return match;
    },
    stop() {
      spawner.stop();
      for (const { identity } of table.marked(mark)) table.killGroup(identity);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
