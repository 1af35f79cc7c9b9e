// The one-shot prepare step, run by owld after migrations and before any service: queue schema, first administrator,
// demo data, pages; with OWL_RESTORED=1 the jobs of a restored copy are settled first. Invariant: every step asks first whether it is done, so that a run killed anywhere is simply repeated.
// Progress: one JSON object a line on standard output; exit 0 when all is there, 1 with a sentence when not.

import { dirname } from "node:path";
import { pino } from "pino";
import { asError, OwlError } from "../../config/errors.ts";
import { homePaths } from "../../config/home.ts";
import { systemClock as clock, systemRandom as random } from "../../config/system-time.ts";
import { createDatabase } from "../db/pool.ts";
import { createQueue, installQueue } from "../db/queue.ts";
import { readInstance } from "../instance.ts";
import { isRelease } from "../program.ts";
import { textOf } from "../text/text.ts";
import { buildPages } from "../web/pages/build.ts";
import { ensureAdministrator } from "./administrator.ts";
import { buildBundles } from "./bundles.ts";
import { ensureDemo } from "./demo.ts";
import { settleRestored } from "./restored.ts";

function say(step: string, message: string, rest: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ step, message, ...rest })}\n`);
}

async function prepare(): Promise<void> {
  process.env.OWL_INSTANCE ??= "prepare";
  const { databaseUrl: url, config, id } = readInstance(process.env);
  const adminUrl = process.env.OWL_ADMIN_DATABASE_URL ?? null;
  const password = process.env.OWL_ADMIN_PASSWORD ?? null;
  delete process.env.OWL_ADMIN_DATABASE_URL;
  delete process.env.OWL_ADMIN_PASSWORD;
  const { initialPassword } = homePaths(process.env.OWL_HOME ?? dirname(config.uploadsDir));
  const onError = () => undefined;
  const db = createDatabase({ url, max: 3, statementTimeoutMs: 300_000, onError });
  try {
    const onWarning = (message: string) => say("queue", message);
    const options = { database: db, instance: id, upkeep: false, onError, onWarning };
    await installQueue(options);
    say("queue", "The job queues are in place.");
    if (process.env.OWL_RESTORED === "1") {
      const queue = createQueue(options);
      await queue.start();
      const text = textOf(config.language);
      const { claimMs } = config.turn;
      const settled = await settleRestored({ db, queue, clock, random, text, claimMs, log: pino({ level: "silent" }) });
      await queue.stop();
      say("restored", `Jobs of the restored copy settled: ${settled}.`);
    }
    const administrator = await ensureAdministrator({ db, random, password, file: initialPassword });
    say("administrator", administrator.message, { initialPassword: administrator.file });
    say("demo", await ensureDemo({ db, random, url, adminUrl }));
    if (!isRelease()) await build();
    say("done", "Prepared.");
  } finally {
    await db.stop();
  }
}

/** Of a checkout, where its sources changed. A folder that may not be written is said and no reason to stop. */
async function build(): Promise<void> {
  // Without them the API still serves.
  await buildPages().then(
    () => say("pages", "The pages are built."),
    (error: unknown) => say("pages", `The pages could not be built: ${asError(error).message}`),
  );
  // Without their bundles the programs run from their sources, slower to start.
  await buildBundles().then(
    () => say("programs", "The programs are built."),
    (error: unknown) => say("programs", `The programs could not be built: ${asError(error).message}`),
  );
}

try {
  await prepare();
} catch (error) {
  // owld shows what is no progress line as the reason.
  const next = error instanceof OwlError && error.next ? ` ${error.next}` : "";
  process.stderr.write(`${asError(error).message}${next}\n`);
  process.exitCode = 1;
}
