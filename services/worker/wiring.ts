// The bundled worker: wiring only. SIGTERM and SIGINT drain it once; a second signal changes nothing.

import { hostname } from "node:os";
import { asError, OwlError } from "../../config/errors.ts";
import { systemClock as clock, systemRandom as random } from "../../config/system-time.ts";
import { startTracing } from "../../config/traces.ts";
import { newestFormats } from "../core/job-kinds.ts";
import { createListener } from "../db/listen.ts";
import { createDatabase } from "../db/pool.ts";
import { createQueue } from "../db/queue.ts";
import { createReclaimer } from "../db/reclaimer.ts";
import { registerWorker } from "../db/workers.ts";
import { createLog, readInstance } from "../instance.ts";
import { createTitles } from "../jobs/chat/titles.ts";
import { createHandlers, loadAhead } from "../jobs/handlers.ts";
import { textOf } from "../text/text.ts";
import { createSources } from "../tools/sources.ts";
import { createHeartbeat, createLeaseKeeper } from "./heartbeat.ts";
import { createReadySocket } from "./ready-socket.ts";
import { register } from "./registration.ts";
import { createWorker } from "./worker.ts";

const instance = readInstance(process.env);
const { id, config, databaseUrl: url } = instance;
const log = createLog(id);
const text = textOf(config.language);
const onError = (err: Error) => log.warn({ err }, "database connection failed");
// The declared pool is shared out: the metastore's part, and the tools' connections to data sources.
const toolConnections = Math.max(1, Math.floor(config.worker.pool * 0.4));
const db = createDatabase({ url, max: Math.max(2, config.worker.pool - toolConnections), clock, onError });
const queue = createQueue({
  database: db,
  instance: id,
  upkeep: true,
  onError,
  onWarning: (message) => log.warn({ queue: message }, "queue warning"),
});
const listener = createListener({ url, channels: ["owl_jobs", "owl_stop", "owl_worker_gone"], clock, onError });
const sources = createSources({ config, db, clock, max: toolConnections, onError });
const titles = config.chat.titles === "model" ? createTitles({ db, clock, log, text }) : null;
const handlers = createHandlers({ config, sources, titles });
const { intervalMs, stalledAfterMs } = config.heartbeat;
const tracing = config.traces
  ? await startTracing(config.traces, { name: "worker", instance: id, version: instance.release }, { clock, random })
  : null;
const common = { db, queue, listener, clock, random, log, text };
const worker = createWorker({ ...common, tracing, id, config, handlers, onJobs: () => heartbeat.nudge() });
const { jobs, counts, claims } = worker;
const heartbeat = createHeartbeat({ id, url, clock, log, intervalMs, stalledAfterMs, jobs, counts, onGone });
const leases = createLeaseKeeper({ queue, clock, log, intervalMs, claims });
const reclaimer = createReclaimer({
  ...common,
  claimMs: config.turn.claimMs,
  stalledAfterMs,
  healthyForMs: heartbeat.healthyForMs,
});
let registered = false;
const readySocket = createReadySocket(instance.socket ?? instance.address, () =>
  worker.isDraining ? "draining" : registered ? null : "starting",
);

function onGone(): void {
  log.error("this worker was taken for gone; its jobs are another one's now, so it ends");
  void worker.abandon().then(() => process.exit(1));
}

async function stop(why: string): Promise<void> {
  if (worker.isDraining) return;
  log.info({ why }, "stopping");
  const result = await worker.drain();
  // Given up means that the database does not answer: closing would only wait for it, and the grace is running out.
  if (result === "gaveUp") process.exit(1);
  // Order: deregistered (in drain), then the heartbeat, then everything else; none may hold the exit.
  const closing = (async () => {
    await heartbeat.stop();
    await Promise.allSettled([
      leases.stop(),
      reclaimer.stop(),
      listener.stop(),
      readySocket.stop(),
      sources.stop(),
      titles?.stop(),
      tracing?.stop(),
    ]);
    await queue.stop();
    await db.stop();
  })();
  await Promise.race([closing.catch(() => undefined), clock.sleep(1_000)]);
  process.exit(0);
}

process.on("SIGTERM", () => void stop("SIGTERM"));
process.on("SIGINT", () => void stop("SIGINT"));

try {
  await Promise.all([readySocket.start(), queue.start(), listener.start()]);
  await register({ reclaimer, clock, log }, () =>
    registerWorker(db, { id, release: instance.release, pid: process.pid, host: hostname(), formats: newestFormats() }),
  );
  await heartbeat.start();
  reclaimer.start();
  await leases.start();
  worker.start();
  registered = true;
  log.info({ release: instance.release, concurrency: config.worker.concurrency }, "worker is ready");
  await loadAhead(config).catch((error) => log.warn({ err: asError(error) }, "a tool could not be loaded ahead"));
} catch (error) {
  const known = error instanceof OwlError ? { code: error.code, next: error.next } : {};
  log.fatal({ err: asError(error), ...known }, "worker could not start");
  process.exit(1);
}
