// Drills by schedule: one soon after the first backup, then one a week; one that failed is tried again the day after.
// Invariant: what is said of drills is what the last report says, whoever ran it.

import { spawn } from "node:child_process";
import type { BackupConfig, Config } from "../../../config/config.ts";
import { inheritedEnv } from "../../../config/instance-env.ts";
import { CODE_ROOT } from "../../../config/load.ts";
import type { Sentence } from "../../core/text/text.ts";
import { readFact } from "../../state/facts.ts";
import type { Foundation } from "../../state/foundation.ts";
import { judgeDrill } from "./core/schedule.ts";
import { lastDrill } from "./drill.ts";
import { backupProgram } from "./report.ts";
import { clearScratch } from "./scratch.ts";

const LOOK_MS = 5_000;
/** Between two tries of one that came to no report. */
const AGAIN_MS = 60_000;

export function createDrills(parts: {
  readonly ground: Foundation;
  readonly config: () => Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly mayRun: () => boolean;
  readonly signal: AbortSignal;
}) {
  const { ground, signal } = parts;
  const { store, clock, log, journal, warnings, record, paths } = ground;
  let watching: Promise<void> | null = null;

  const failed: Sentence = (text) => text.warnings.drillFailed(lastDrill(paths)?.reason ?? "");
  const missing: Sentence = (text) => text.warnings.drillMissing;

  async function watch(): Promise<void> {
    let beganMs = Number.NEGATIVE_INFINITY;
    for await (const _ of clock.every(LOOK_MS, signal)) {
      await clearScratch(paths, clock).catch(ground.warned("what a killed drill left was not cleared away"));
      const { backup } = parts.config();
      const firstMs = readFact(store, "first backup");
      if (backup === null || backup.drillEveryMs === null || firstMs === null) {
        warnings.delete("drill");
        continue;
      }
      const { drillEveryMs: everyMs } = backup;
      const judge = () => judgeDrill({ nowMs: clock.now(), firstMs, last: lastDrill(paths), everyMs });
      if (clock.monotonicMs() - beganMs > AGAIN_MS && judge().isDue && parts.mayRun()) {
        beganMs = clock.monotonicMs();
        await run(backup);
      }
      const { warning } = judge();
      if (warning === null) warnings.delete("drill");
      else warnings.set("drill", warning === "failed" ? failed : missing);
    }
  }

  async function run({ directory, passphraseFile }: BackupConfig): Promise<void> {
    const { home, language } = parts.config();
    const [command, ...args] = backupProgram("ask");
    const made = spawn(command, args, {
      cwd: CODE_ROOT,
      env: { ...inheritedEnv(parts.environment), OWL_HOME: home },
      stdio: ["pipe", "ignore", "inherit"],
      signal,
    });
    made.on("error", (error) => log.debug({ err: error }, "the drill ended early"));
    made.stdin.on("error", () => undefined);
    made.stdin.end(JSON.stringify({ ask: "drill", language, directory, passphraseFile, home, quietly: true }));
    await new Promise<void>((resolve) => made.once("close", () => resolve()));
    const report = lastDrill(paths);
    if (report === null || signal.aborted) return;
    const { passed, rtoMs, reason } = report;
    const message = passed
      ? record.recorded.backup.drilled(report.backup, Math.round((rtoMs ?? 0) / 1_000))
      : record.recorded.backup.drillFailed(reason ?? "");
    journal.write({ type: passed ? "drill.passed" : "drill.failed", message, data: { ...report } });
  }

  return {
    start(): void {
      watching ??= watch();
    },
    /** After the signal: the one that runs has cleared away what it made. */
    async stopped(): Promise<void> {
      await watching;
    },
  };
}
