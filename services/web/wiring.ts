// The bundled web: wiring only. SIGTERM: not ready, streams moved, requests in flight answered, exit 0.

import { rm } from "node:fs/promises";
import { asError, OwlError } from "../../config/errors.ts";
import { systemClock as clock, systemRandom as random } from "../../config/system-time.ts";
import { startTracing } from "../../config/traces.ts";
import { createListener } from "../db/listen.ts";
import { createDatabase } from "../db/pool.ts";
import { createPulse } from "../db/pulse.ts";
import { createQueue } from "../db/queue.ts";
import { createReclaimer } from "../db/reclaimer.ts";
import { createLog, readInstance } from "../instance.ts";
import { createScheduler } from "../schedules/scheduler.ts";
import { textOf } from "../text/text.ts";
import { createAccountGate } from "./account-limits.ts";
import { createApp } from "./app.ts";
import { createEventStreams } from "./event-stream.ts";
import { createPasswordWork } from "./password-work.ts";
import { createRetention } from "./retention.ts";
import { createSweeper } from "./sweeper.ts";

const instance = readInstance(process.env);
const { id, config, databaseUrl: url } = instance;
const log = createLog(id);
const ASIDE_STATEMENT_MS = 10_000;
const text = textOf(config.language);
const onError = (err: Error) => log.warn({ err }, "database connection failed");
// Of the one declared pool a fifth is for what may be slow; too few are not divided.
const asideMax = Math.floor(config.web.pool / 5);
const db = createDatabase({ url, max: config.web.pool - asideMax, onError });
const aside =
  asideMax === 0
    ? db
    : createDatabase({ url, max: asideMax, statementTimeoutMs: ASIDE_STATEMENT_MS, behind: true, onError });
const queue = createQueue({
  database: db,
  instance: id,
  upkeep: false,
  onError,
  onWarning: (message) => log.warn({ queue: message }, "queue warning"),
});
const listener = createListener({ url, channels: ["owl_turn", "owl_observe", "owl_worker_gone"], clock, onError });
const { intervalMs, stalledAfterMs } = config.heartbeat;
const pulse = createPulse({
  url,
  clock,
  intervalMs,
  breakAfterMs: stalledAfterMs / 2,
  async beat(client) {
    await client.query("SELECT 1");
  },
  onError,
});
const tracing = config.traces
  ? await startTracing(config.traces, { name: "web", instance: id, version: instance.release }, { clock, random })
  : null;
const common = { db, queue, listener, clock, random, log, text };
const reclaimer = createReclaimer({
  ...common,
  claimMs: config.turn.claimMs,
  stalledAfterMs,
  healthyForMs: pulse.healthyForMs,
});
const sweeper = createSweeper(common);
const scheduler = createScheduler({ ...common, config });
const retention = createRetention({
  ...common,
  instance: id,
  kept: config.retention,
  uploadsDir: config.uploadsDir,
  databaseUrl: url,
});
const streams = createEventStreams({ clock, random, listener, most: config.limits.eventStreams });
const passwords = createPasswordWork();
let state: "starting" | "ready" | "draining" = "starting";
const LINGER_MS = 300;
const notReady = () => (state === "ready" ? null : state);
const app = await createApp({
  ...common,
  aside,
  searches: createAccountGate("searches", config.limits.searches),
  config,
  instance: id,
  release: instance.release,
  streams,
  passwords,
  tracing,
  notReady,
});

async function stop(why: string): Promise<void> {
  if (state === "draining") return;
  state = "draining";
  log.info({ why, streams: streams.size }, "stopping");
  // What was on its way when we left the routing table is still read and answered before the door closes.
  await Promise.all([streams.endAll(), clock.sleep(LINGER_MS)]);
  await app.close();
  await Promise.race([
    Promise.allSettled([
      sweeper.stop(),
      scheduler.stop(),
      retention.stop(),
      reclaimer.stop(),
      listener.stop(),
      pulse.stop(),
      tracing?.stop(),
    ])
      .then(() => queue.stop())
      .then(() => Promise.all([db.stop(), aside.stop()]))
      .catch(() => undefined),
    clock.sleep(3_000),
  ]);
  log.info("stopped");
  process.exit(0);
}

process.on("SIGTERM", () => void stop("SIGTERM"));
process.on("SIGINT", () => void stop("SIGINT"));

try {
  await Promise.all([queue.start(), listener.start(), pulse.start()]);
  reclaimer.start();
  await sweeper.start();
  await scheduler.start();
  await retention.start();
  if (instance.socket) {
    await rm(instance.socket, { force: true });
    await app.listen({ path: instance.socket });
  } else await app.listen(instance.address ?? { host: "127.0.0.1", port: 0 });
  if (state === "starting") state = "ready";
  log.info({ release: instance.release }, "web is ready");
} catch (error) {
  const known = error instanceof OwlError ? { code: error.code, next: error.next } : {};
  log.fatal({ err: asError(error), ...known }, "web could not start");
  process.exit(1);
}
