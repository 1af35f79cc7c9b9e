// The one-shot step before services start: `node services/prepare/main.ts` makes queues, the first administrator,
// demo data. owld only runs it, tells its progress, and turns its failure into one sentence.

import { RELEASE_SCRIPTS, type ReleaseStep, runReleaseStep } from "./release-step.ts";

type PrepareRun = Pick<ReleaseStep, "codeRoot" | "node" | "env" | "say" | "signal">;

/** Runs it to its end. Throws `prepare.failed` with its last lines. */
export async function runPrepare(run: PrepareRun): Promise<void> {
  await runReleaseStep({
    ...run,
    script: RELEASE_SCRIPTS.prepare,
    what: "Preparing the application",
    code: "prepare.failed",
    next: "Start Owl again when it is resolved; what was prepared is kept.",
  });
}
