// owld, put together: every adapter is built here and handed to those who see it through a port only.
// Invariant: what was started is stopped in the opposite order; letting go leaves every process alive.

import { readdirSync } from "node:fs";
import type { Logger } from "pino";
import type { AppConfig, Config } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { homePaths } from "../../config/home.ts";
import { appConfigWith, CODE_ROOT } from "../../config/load.ts";
import type { Environment } from "../../config/locate.ts";
import { systemClock, systemRandom } from "../../config/system-time.ts";
import { type Adopted, adoptInstances } from "../adoption.ts";
import { createOperations } from "../control/operations.ts";
import { createControlServer } from "../control/server.ts";
import { isComplete } from "../core/supervisor-state.ts";
import { createExitedLookout } from "../exited-lookout.ts";
import { createHealthWatch } from "../health-watch.ts";
import { createInstanceBook } from "../instance-book.ts";
import { envHashes, inheritedEnv, instanceEnv, markOf } from "../instance-launch.ts";
import { createInstances, type Instances } from "../instances.ts";
import { createJournal } from "../journal.ts";
import { createMeasures } from "../measures.ts";
import type { ProxyRecord, ProxyRecords } from "../ports.ts";
import { createDatabaseService } from "../postgres/database-service.ts";
import { createPreflight } from "../preflight-facts.ts";
import { freePort } from "../process/free-port.ts";
import { createProcessTable } from "../process/group-signal.ts";
import { createHealthProbe } from "../process/health-probe.ts";
import { createInstanceLogs } from "../process/log-file.ts";
import { createProcReader } from "../process/proc-identity.ts";
import { createSpawner } from "../process/spawn.ts";
import { createUsageSampler } from "../process/usage.ts";
import { createProxySet } from "../proxies.ts";
import { createRolloutRunner } from "../rollout-runner.ts";
import { createRouting } from "../routing.ts";
import { createServiceWishes } from "../service-wishes.ts";
import { openStore } from "../state/store.ts";
import { buildStatus, standings } from "../status-report.ts";
import { createSupervisor, type Supervisor } from "../supervisor.ts";
import { createSurroundings } from "../surroundings.ts";
import { makeHome, socketDirectory } from "./home-directories.ts";

export interface DaemonParts {
  readonly config: Config;
  readonly loadConfig: () => Config;
  readonly environment: Environment;
  readonly log: Logger;
  readonly version: string;
  readonly adminPassword: string | null;
  /** systemd's listening descriptors, in the order of proxy.listen. */
  readonly listenFds: readonly number[];
  /** Asked to be started again with new code. */
  readonly reexec: () => void;
  /** Called by every turn of the main loop. */
  readonly beat: () => void;
}

export interface Daemon {
  /** Resolves when the control socket is up and adoption is done; services come up after that. */
  start(): Promise<void>;
  /** Orderly stop of everything. */
  stop(): Promise<void>;
  killAll(): void;
  /** Everything lives on without this process. */
  letGo(): Promise<void>;
  reload(): Promise<void>;
  /** Rejects when owld cannot go on (the database did not start and nothing runs yet). */
  readonly broken: Promise<never>;
}

const DATABASE_RETRY_MS = 5_000;

export function createDaemon(parts: DaemonParts): Daemon {
  const { log, environment, version } = parts;
  const clock = systemClock;
  let config = parts.config;
  const paths = homePaths(config.home);
  makeHome(paths);
  const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
  const { store, setAside } = openStore(paths.stateFile, stamp);
  const warnings = new Map<string, string>();
  if (setAside !== null) {
    warnings.set(
      "state",
      `The state file was set aside as ${setAside.path}: ${setAside.reason}. Processes are adopted by their marks.`,
    );
    log.warn(setAside, "the state file was set aside");
  }
  const reader = createProcReader();
  const table = createProcessTable(reader);
  const spawner = createSpawner({ clock, table, reader });
  const mark = markOf(paths.home);
  const journal = createJournal(store, clock, log);
  const measures = createMeasures(store);
  const startedAt = clock.now();
  const broken = Promise.withResolvers<never>();
  // Heard by main through `broken`; without a listener it would end the process by itself.
  broken.promise.catch(() => undefined);
  const lifetime = new AbortController();
  let settled = false;
  let listening = false;

  const database = createDatabaseService({
    config,
    clock,
    random: systemRandom,
    log,
    codeRoot: CODE_ROOT,
    environment,
    adminPassword: parts.adminPassword,
    mayMigrateIncompatibly: () => book.all().length === 0,
  });
  const appOf = (of: Config): AppConfig | null => {
    const url = database.url();
    return of.app === null || url === null ? of.app : appConfigWith(of.app, url);
  };
  const wake = (): void => supervisor?.wake();
  const book = createInstanceBook(store, wake);
  const wishes = createServiceWishes(store, wake);
  const proxies = createProxySet({
    clock,
    spawner,
    table,
    records: proxyRecords(),
    paths,
    mark,
    release: version,
    env: inheritedEnv(environment),
    unrecorded: (error) => log.error({ err: error }, "a proxy runs unrecorded"),
    proxy: config.proxy,
    listenFds: parts.listenFds,
    notice: ({ type, proxy, message }) => journal.write({ type, service: "proxy", instance: proxy, message }),
  });
  const logs = createInstanceLogs({
    directory: paths.logs,
    clock,
    living: () => new Set([...book.all().map(({ id }) => id), ...proxies.processes().map(({ id }) => id)]),
  });
  const routing = createRouting({
    proxies,
    clock,
    acknowledged: wake,
    failed: (error) => {
      log.error({ err: error }, "the routing table was not taken");
      wake();
    },
  });
  const rollouts = createRolloutRunner({
    clock,
    store,
    journal,
    bootId: reader.bootId,
    counters: proxies.counters,
    changed: wake,
  });
  const health = createHealthWatch({
    clock,
    probe: createHealthProbe(clock),
    instance: book.get,
    service: (name) => config.services.find((service) => service.name === name) ?? null,
    env: (instance) => environmentOf(instance.id) ?? {},
    passed: (id) => instances.passed(id),
    failing: (id, { status, error, body }) => instances.failing(id, error ?? `${status ?? ""} ${body.slice(0, 100)}`),
    broken: (error) => log.error({ err: error }, "a health check failed by itself"),
  });
  const lookout = createExitedLookout({
    clock,
    table,
    mark,
    journal,
    failed: (error) => log.error({ err: error }, "left-over processes were not looked for"),
  });
  const sockets = socketDirectory(paths, store);
  const instances: Instances = createInstances({
    clock,
    log,
    store,
    book,
    journal,
    measures,
    spawner,
    table,
    proxies,
    routing,
    health,
    paths,
    socketDirectory: sockets,
    mark,
    release: version,
    bootId: reader.bootId,
    environment,
    config: () => config,
    app: () => appOf(config),
    freePort,
    milestone: (instance, event, elapsedMs, message) => rollouts.note(instance, event, elapsedMs, message),
    gone(instance) {
      lookout.note(instance);
      database
        .metastore()
        ?.markGone(instance.id)
        .catch((error: unknown) => log.warn({ err: asError(error) }, "the worker was not marked as gone"));
    },
  });
  const surroundings = createSurroundings({
    clock,
    book,
    journal,
    measures,
    wishes,
    sampler: createUsageSampler(clock, reader),
    logs,
    metastore: database.metastore,
    config: () => config,
    changed: wake,
    failed: (error) => log.warn({ err: asError(error) }, "the surroundings were not read whole"),
  });
  const supervisor: Supervisor = createSupervisor({
    clock,
    log,
    store,
    book,
    instances,
    rollouts,
    routing,
    wishes,
    measures,
    logs,
    config: () => config,
    held: () => config.usesDatabase && database.url() === null,
    connectionLimit: surroundings.connectionLimit,
    freeMemoryBytes: surroundings.freeMemoryBytes,
    turned: () => {
      parts.beat();
      settled ||= listening && isComplete(standings(facts()));
    },
  });

  function environmentOf(id: string): Record<string, string> | null {
    const instance = book.get(id);
    const service = config.services.find(({ name }) => name === instance?.service);
    if (instance === null || service === undefined) return null;
    const { target } = instance;
    return instanceEnv({
      service,
      id,
      target,
      paths,
      mark,
      release: instance.release,
      app: appOf(config),
      environment,
    });
  }

  function facts() {
    return { config, instances: book.all(), wishes, crashesOf: instances.crashesOf, nowMs: clock.monotonicMs() };
  }

  function status() {
    const failing = store.failing();
    const full =
      failing === null
        ? []
        : [`The state file cannot be written (${failing}): supervision goes on from memory, rollouts wait.`];
    return buildStatus({
      ...facts(),
      version,
      releasePath: CODE_ROOT,
      pid: process.pid,
      startedAt,
      proxies,
      usage: surroundings.usage(),
      rollouts,
      connections: surroundings.connections(),
      workers: surroundings.workers(),
      stopping: supervisor.isStopping(),
      settled,
      warnings: [...warnings.values(), ...full],
    });
  }

  const control = createOperations({
    clock,
    book,
    instances,
    rollouts,
    journal,
    measures,
    wishes,
    store,
    health,
    table,
    logs,
    mark,
    proxies,
    preflight: createPreflight({
      clock,
      config: () => config,
      databaseUrl: database.url,
      ownPids: () => new Set([process.pid, ...proxies.processes().map(({ pid }) => pid)]),
      largestInstanceBytes: () => largest(config.services.map(({ name }) => measures.of(name).peakRssBytes)),
      environment,
      cwd: process.cwd(),
      codeRoot: CODE_ROOT,
    }),
    config: () => config,
    app: appOf,
    loadConfig: parts.loadConfig,
    useConfig(next) {
      config = next;
      wake();
    },
    status,
    workers: surroundings.workers,
    crashesOf: instances.crashesOf,
    envNow(instance) {
      const env = environmentOf(instance.id);
      return env === null ? null : envHashes(env);
    },
    connectionLimit: surroundings.connectionLimit,
    isStopping: supervisor.isStopping,
    wake,
    reexec: parts.reexec,
    loggedInstances: () =>
      readdirSync(paths.logs).flatMap((file) => (file.endsWith(".log") ? [file.slice(0, -4)] : [])),
    failed: (error, what) => log.error({ err: asError(error) }, what),
  });
  const server = createControlServer({
    control,
    socketPath: paths.controlSocket,
    version,
    metrics: async () => "",
    failed: (error, request) => log.error({ err: error, request }, "a request failed"),
  });

  function proxyRecords(): ProxyRecords {
    return {
      all: () => [...store.all<ProxyRecord>("proxy").values()],
      put: (record) => store.put("proxy", record.id, record),
      remove: (id) => store.remove("proxy", id),
      nextNumber: () => store.next("proxy"),
    };
  }

  async function bringUpDatabase(): Promise<void> {
    for (;;) {
      try {
        await database.start((message) => journal.write({ type: "database.progressed", message }), lifetime.signal);
        warnings.delete("database");
        if (config.usesDatabase) await surroundings.runOnce();
        wake();
        return;
      } catch (caught) {
        if (lifetime.signal.aborted) return;
        const error = asError(caught);
        // Nothing runs yet: better to say it and end than to look alive.
        if (book.all().length === 0) return broken.reject(error);
        warnings.set("database", `The database did not start: ${error.message}`);
        log.error({ err: error }, "the database did not start; tried again");
        await clock.sleep(DATABASE_RETRY_MS, lifetime.signal).catch(() => undefined);
      }
    }
  }

  function warnOfStrays({ strays }: Adopted): void {
    if (strays.length === 0) return;
    const named = strays.map(({ identity, command }) => `${identity.pid} (${command})`).join(", ");
    warnings.set(
      "strays",
      `Processes of earlier instances nobody owns live on: ${named}. End them by hand when they are not wanted.`,
    );
  }

  let bringingUp: Promise<void> = Promise.resolve();
  return {
    broken: broken.promise,
    async start() {
      const adopted = adoptInstances({
        clock,
        store,
        book,
        instances,
        journal,
        spawner,
        table,
        paths,
        socketDirectory: sockets,
        mark,
        bootId: reader.bootId,
        config,
        others: new Set(["proxy"]),
      });
      warnOfStrays(adopted);
      await proxies.start();
      listening = true;
      await server.start();
      supervisor.start();
      surroundings.start();
      bringingUp = bringUpDatabase();
    },
    async stop() {
      journal.write({ type: "owld.stopping", message: "owld stops everything in order." });
      lifetime.abort(new OwlError("supervisor.stopping", "owld is stopping."));
      await bringingUp;
      await supervisor.drainAll();
      await proxies.stop();
      supervisor.letGo();
      await surroundings.stop();
      await database.stop();
      await finish();
    },
    killAll: supervisor.killAll,
    async letGo() {
      lifetime.abort(new OwlError("supervisor.stopping", "owld lets go."));
      supervisor.letGo();
      proxies.letGo();
      database.letGo();
      await finish();
    },
    async reload() {
      try {
        await control.reload();
      } catch (error) {
        log.error({ err: asError(error) }, "the configuration was not reloaded");
      }
    },
  };

  async function finish(): Promise<void> {
    await health.stop();
    lookout.stop();
    await server.stop();
    spawner.stop();
    store.close();
  }
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((top, value) => (value === null ? top : Math.max(top ?? 0, value)), null);
}
