// PostgreSQL as the rest of owld sees it: up (managed) or answering (external), migrated, prepared, watched.
// Invariant: without a database in the configuration nothing here touches PostgreSQL or the disk.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { asError, invariant } from "../../config/errors.ts";
import { homePaths } from "../../config/home.ts";
import { INSTANCE_ENV, inheritedEnv } from "../../config/instance-env.ts";
import type { Clock, Random, WallMs } from "../../config/time.ts";
import type { DatabaseService } from "../ports.ts";
import { RESTORED } from "../state/home.ts";
import { checkExternal } from "./external.ts";
import { createManagedPostgres, type ManagedDeps, type ManagedPostgres } from "./managed.ts";
import { createMetastore, type RunningMetastore } from "./metastore.ts";
import { migrate } from "./migrate.ts";
import { runPrepare } from "./prepare.ts";
import { createUpdateDatabase } from "./update-database.ts";

/** Between two looks whether a managed server still lives. */
const LOOK_MS = 1_000;

interface DatabaseDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Directory of the code that runs: its migrations/ and services/prepare/. */
  readonly codeRoot: string;
  /** owld's environment; a few names of it reach prepare, nothing reaches PostgreSQL. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** OWL_ADMIN_PASSWORD, handed on to prepare. */
  readonly adminPassword: string | null;
  /** May incompatible migrations run at this start? No, while adopted instances of another release live. */
  readonly mayMigrateIncompatibly?: () => boolean;
  /** Whether migrations and prepare are ours now; no, while an update is under way. */
  readonly mayPrepare?: () => boolean;
  /** An older database is about to take the place of the one of now. */
  readonly rewound?: () => void;
  /** Tests: facts of the machine the managed server should go by. */
  readonly facts?: ManagedDeps["facts"];
}

/** Builds the service; nothing happens before `start`. */
export function createDatabaseService(deps: DatabaseDeps): DatabaseService {
  const { config, clock, log } = deps;
  const paths = homePaths(config.home);
  const managed = config.usesDatabase && !config.database ? createManaged() : null;
  const ended = new AbortController();
  let url: string | null = null;
  let adminUrl: string | null = null;
  let metastore: RunningMetastore | null = null;
  let watching: Promise<void> | null = null;
  /** The server rests for a copy: no watch brings it back. */
  let resting = false;
  let running: { pid: number; state: string; startedAt: WallMs } | null = null;

  function createManaged(): ManagedPostgres {
    return createManagedPostgres({
      clock,
      random: deps.random,
      config: config.postgres,
      base: paths.postgres,
      logFile: join(paths.logs, "postgres.log"),
      path: deps.environment.PATH ?? "",
      ...(deps.facts ? { facts: deps.facts } : {}),
    });
  }

  async function bringUp(
    say: (message: string) => void,
    signal: AbortSignal,
  ): Promise<{ url: string; admin: string | null }> {
    if (!managed) {
      invariant(config.database, "a database is used, so it is managed or given");
      await checkExternal(config.database.url, clock, say, signal);
      return { url: config.database.url, admin: null };
    }
    const server = await managed.start(say, signal);
    running = { pid: server.postmaster.pid, state: "ready", startedAt: server.postmaster.startedAt };
    log.info(
      { pid: server.postmaster.pid, version: server.binaries.version, outcome: server.outcome },
      "PostgreSQL is up",
    );
    return { url: server.url, admin: server.adminUrl };
  }

  /** A crashed server is started again, at once and then after 1 s, 2 s, 4 s ... 30 s. */
  async function watch(): Promise<void> {
    let failures = 0;
    for await (const _ of clock.every(LOOK_MS, ended.signal)) {
      if (!managed || resting || (await managed.living())) continue;
      if (running) running = { ...running, state: "starting" };
      log.error("PostgreSQL is gone and is started again");
      try {
        await bringUp((message) => log.info(message), ended.signal);
        failures = 0;
      } catch (error) {
        if (ended.signal.aborted) return;
        failures++;
        log.error({ err: asError(error), failures }, "PostgreSQL did not start");
        await clock.sleep(Math.min(30_000, 1_000 * 2 ** (failures - 1)), ended.signal).catch(() => undefined);
      }
    }
  }

  async function endWatching(): Promise<void> {
    ended.abort();
    await watching;
    await metastore?.stop();
  }

  const updates = createUpdateDatabase({
    clock,
    copies: join(paths.home, "copies"),
    path: deps.environment.PATH ?? "",
    ...(deps.rewound ? { rewound: deps.rewound } : {}),
    url() {
      invariant(url !== null, "the database is up before an update");
      return url;
    },
    env() {
      invariant(url !== null, "the database is up before an update");
      return prepareEnvironment(deps, { url, admin: adminUrl });
    },
    managed: managed && {
      async stop() {
        resting = true;
        await managed.rest();
      },
      async start(say, signal) {
        try {
          await bringUp(say, signal);
        } finally {
          // Not up? The watch tries on.
          resting = false;
        }
      },
      place: managed.place,
    },
  });

  return {
    updates: () => updates,
    async start(say, signal) {
      if (!config.usesDatabase || url !== null) return;
      const up = await bringUp(say, signal);
      adminUrl = up.admin;
      if (config.bundled && (deps.mayPrepare?.() ?? true)) {
        const allowIncompatible = deps.mayMigrateIncompatibly?.() ?? true;
        await migrate(up.url, join(deps.codeRoot, "migrations"), { allowIncompatible, say, signal });
        const restored = join(paths.home, RESTORED);
        const isRestored = existsSync(restored);
        await runPrepare({
          codeRoot: deps.codeRoot,
          node: process.execPath,
          env: { ...prepareEnvironment(deps, up), ...(isRestored ? { OWL_RESTORED: "1" } : {}) },
          say,
          signal,
        });
        if (isRestored) await rm(restored);
      }
      url = up.url;
      metastore = createMetastore({ url, clock, log, stalledAfterMs: config.heartbeat.stalledAfterMs });
      metastore.start();
      if (managed) watching = watch();
    },
    url: () => url,
    adminUrl: () => adminUrl,
    metastore: () => metastore,
    async stop() {
      await endWatching();
      await managed?.stop();
      running = null;
    },
    letGo() {
      ended.abort();
      void metastore?.stop().catch(() => undefined);
      managed?.letGo();
    },
    process: () => running,
  };
}

function prepareEnvironment(deps: DatabaseDeps, up: { url: string; admin: string | null }): Record<string, string> {
  const { config, environment } = deps;
  const app = config.app && { ...config.app, databaseUrl: up.url };
  const env: Record<string, string> = {
    ...inheritedEnv(environment),
    OWL_HOME: config.home,
    [INSTANCE_ENV.app]: JSON.stringify(app),
    [INSTANCE_ENV.pgApplication]: "owl/prepare",
  };
  if (up.admin !== null) env.OWL_ADMIN_DATABASE_URL = up.admin;
  if (deps.adminPassword !== null) env.OWL_ADMIN_PASSWORD = deps.adminPassword;
  return env;
}
