// owld, put together: every adapter is built here and handed to those who see it through a port only.
// Invariant: what was started is stopped in the opposite order; letting go leaves every process alive.

import { readdirSync } from "node:fs";
import type { Logger } from "pino";
import type { AppConfig, Config } from "../config/config.ts";
import { asError, OwlError } from "../config/errors.ts";
import { inheritedEnv } from "../config/instance-env.ts";
import { appConfigWith, CODE_ROOT } from "../config/load.ts";
import type { Environment } from "../config/locate.ts";
import { systemRandom } from "../config/system-time.ts";
import { createClearance } from "./control/clearance.ts";
import type { Control } from "./control/control.ts";
import { createFront } from "./control/front.ts";
import { createGate } from "./control/gate.ts";
import { createInquiries } from "./control/inquiries.ts";
import { createReloadControl } from "./control/reload.ts";
import { createRolloutControl } from "./control/rollouts.ts";
import { createServiceControl } from "./control/services.ts";
import { isOnTrial } from "./core/confirm.ts";
import { PROXY } from "./core/instance.ts";
import { isComplete } from "./core/supervisor-state.ts";
import { wordsOf } from "./core/text/refusal.ts";
import type { Sentence, Text } from "./core/text/text.ts";
import { en } from "./core/text/text.ts";
import { adoptInstances, describeStrays } from "./instances/adoption.ts";
import { createInstanceBook } from "./instances/book.ts";
import { createHealthWatch } from "./instances/health.ts";
import { envHashes } from "./instances/launch.ts";
import { createExitedLookout } from "./instances/left-over.ts";
import { createInstances, type Instances } from "./instances/life.ts";
import { createRouting } from "./instances/routing.ts";
import { serviceProgram } from "./instances/service-program.ts";
import { createSurroundings } from "./instances/surroundings.ts";
import { createServiceWishes } from "./instances/wishes.ts";
import { createSupervisor, type Supervisor } from "./loop.ts";
import { buildStatus, standings } from "./observe/status.ts";
import { createDatabaseService } from "./postgres/database-service.ts";
import { startDatabase } from "./postgres/start.ts";
import { createPreflight } from "./preflight/preflight.ts";
import { freePort } from "./process/free-port.ts";
import { createHealthProbe } from "./process/health-probe.ts";
import { createInstanceLogs } from "./process/log-file.ts";
import { createUsageSampler } from "./process/usage.ts";
import { createProxySet, proxyStop } from "./proxies/set.ts";
import { createComparison, freshCounters } from "./rollouts/comparison.ts";
import { createPlanner } from "./rollouts/planner.ts";
import { createRolloutRunner } from "./rollouts/record.ts";
import type { DefinitionRecord, DefinitionText } from "./state/definition.ts";
import { createDefinitions, type Definitions } from "./state/definitions.ts";
import { openFoundation } from "./state/foundation.ts";
import { createReleases, type Releases } from "./updates/releases.ts";

interface DaemonParts {
  readonly config: Config;
  /** With the bundled services running from the code at `root`. */
  readonly loadConfig: (root: string, text: DefinitionText) => Config;
  readonly readConfigText: () => DefinitionText;
  /** What `config` was read from, and what an earlier owld left to be tried out. */
  readonly definition: DefinitionRecord;
  readonly environment: Environment;
  readonly log: Logger;
  readonly version: string;
  readonly adminPassword: string | null;
  /** systemd's listening descriptors, in the order of proxy.listen. */
  readonly listenFds: readonly number[];
  /** systemd started us and would do so again: what cannot be had now is tried on. */
  readonly isSupervised: boolean;
  /** Asked to be started again with new code. */
  readonly reexec: () => void;
  /** Called by every turn of the main loop. */
  readonly beat: () => void;
}

interface Daemon {
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

export function createDaemon(parts: DaemonParts): Daemon {
  const { log, environment, version } = parts;
  let config = parts.config;
  const ground = openFoundation(config, log);
  const { clock, paths, store, warnings, spawner, journal, measures } = ground;
  const startedAt = clock.now();
  const broken = Promise.withResolvers<never>();
  // Heard by main through `broken`; without a listener it would end the process by itself.
  broken.promise.catch(() => undefined);
  const lifetime = new AbortController();
  let settled = false;
  /** Nothing ran before us, and the proxy does not listen yet. */
  let opening = false;

  const database = createDatabaseService({
    config,
    clock,
    random: systemRandom,
    log,
    codeRoot: CODE_ROOT,
    environment,
    adminPassword: parts.adminPassword,
    mayMigrateIncompatibly: () => book.services().length === 0,
    // Cut in an update, the database is in that update's hands.
    mayPrepare: () => !releases.underWay(),
  });
  const appOf = (of: Config): AppConfig | null => {
    const url = database.url();
    return of.app === null || url === null ? of.app : appConfigWith(of.app, url);
  };
  const wake = (): void => supervisor?.wake();
  const book = createInstanceBook({ ...ground, changed: wake });
  const wishes = createServiceWishes(store, wake);
  const proxies = createProxySet({
    ...ground,
    book,
    life: () => instances,
    release: version,
    env: inheritedEnv(environment),
    config: () => config.proxy,
    listenFds: parts.listenFds,
    wake,
  });
  const logs = createInstanceLogs({
    directory: paths.logs,
    clock,
    living: () => new Set(book.all().map(({ id }) => id)),
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
  const refreshCounters = () => freshCounters(clock, proxies);
  const rollouts = createRolloutRunner({
    ...ground,
    counters: proxies.counters,
    refreshCounters,
    jobCounts: async (ids) => (await database.metastore()?.jobCounts?.(ids)) ?? null,
    changed: wake,
    kept: () => config.retention.rollouts,
  });
  const health = createHealthWatch({
    clock,
    probe: createHealthProbe(clock),
    instance: book.get,
    service: (instance) => definitions.serviceOf(instance),
    onTrial: (instance) => isOnTrial(rollouts.facts(), instance),
    env: (instance) => definitions.envOf(instance) ?? {},
    passed: (id) => instances.passed(id),
    failing: (id, { status, error, body }) => instances.failing(id, error ?? `${status ?? ""} ${body.slice(0, 100)}`),
    broken: (error) => log.error({ err: error }, "a health check failed by itself"),
  });
  const lookout = createExitedLookout({
    ...ground,
    book,
    failed: (error) => log.error({ err: error }, "left-over processes were not looked for"),
  });
  const services = {
    ...ground,
    health,
    release: () => releases.serving().version,
    environment,
    config: () => config,
    app: appOf,
    definitionFor: (rollout: string | null) => definitions.forNew(rollout),
    freePort,
  };
  const instances: Instances = createInstances({
    ...ground,
    book,
    proxies,
    routing,
    programOf: (service) => (service === PROXY ? proxies.program : serviceProgram(services, service)),
    idleTimeoutMs: () => config.proxy.drainTimeoutMs,
    confirmMs: () => rollouts.facts()?.confirmMs ?? 0,
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
    ...ground,
    book,
    wishes,
    sampler: createUsageSampler(clock, ground.reader),
    logs,
    metastore: database.metastore,
    config: () => config,
    changed: wake,
    failed: (error) => log.warn({ err: asError(error) }, "the surroundings were not read whole"),
  });
  const supervisor: Supervisor = createSupervisor({
    ...ground,
    book,
    instances,
    rollouts,
    comparison: createComparison({ ...ground, proxies, refreshCounters, config: () => config, changed: wake }),
    doubts: health.doubts,
    routing,
    wishes,
    logs,
    proxies,
    config: () => config,
    opening: () => opening,
    rests: (service) => releases.rests(service),
    closed: () => releases.closed(),
    held: () => config.usesDatabase && database.url() === null,
    connectionLimit: surroundings.connectionLimit,
    freeMemoryBytes: surroundings.freeMemoryBytes,
    settleDefinitions: () => definitions.settle(),
    turned: () => {
      parts.beat();
      settled ||= isComplete(standings(facts()));
    },
  });

  function facts() {
    return { config, instances: book.all(), wishes, nowMs: clock.monotonicMs() };
  }

  function status(text: Text) {
    const failing = store.failing();
    const full: Sentence[] = failing === null ? [] : [(t) => t.warnings.diskFull(failing)];
    const trouble = proxies.trouble();
    if (trouble !== null) full.push((t) => t.warnings.proxy(wordsOf(trouble, t).sentence));
    const unread = definitions.notInForce();
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
      warnings: [...(unread === null ? [] : [unread]), ...warnings.values(), ...full, ...surroundings.warnings()].map(
        (say) => say(text),
      ),
    });
  }

  const planner = createPlanner({ ...ground, world: supervisor.world, config: () => config });
  const gate = createGate({
    ...ground,
    rollouts,
    config: () => config,
    connectionLimit: surroundings.connectionLimit,
    isStopping: supervisor.isStopping,
  });
  const releases: Releases = createReleases({
    ...ground,
    random: systemRandom,
    rollouts,
    planner,
    book,
    wishes,
    database,
    version,
    environment,
    config: () => config,
    workers: surroundings.workers,
    preflight: () => preflight.run(),
    status: () => control.status(),
    restart: (request, askedBy) => control.restart(request, askedBy),
    refuse() {
      gate.refuseWhileBusy();
      gate.refuseWithoutDisk();
    },
    useCode({ path }) {
      if (path !== servedFrom) config = definitions.reload(path);
      servedFrom = path;
    },
    proxies,
    wake,
    reexec: parts.reexec,
  });
  // Cut in the middle of an update, the services may run from another release than this owld.
  let servedFrom = CODE_ROOT;
  if (releases.serving().path !== CODE_ROOT) {
    servedFrom = releases.serving().path;
    config = parts.loadConfig(servedFrom, parts.definition.inForce);
  }
  const definitions: Definitions = createDefinitions({
    ...ground,
    rollouts,
    book,
    kept: parts.definition,
    readText: parts.readConfigText,
    load: (text, root = releases.serving().path) => parts.loadConfig(root, text),
    inForce: () => config,
    app: appOf,
    environment,
    use(next) {
      config = next;
      wake();
    },
  });
  const preflight = createPreflight({
    clock,
    config: () => config,
    databaseUrl: database.url,
    listening: proxies.listening,
    ownPids: () => new Set([process.pid, ...proxies.processes().map(({ pid }) => pid)]),
    largestInstanceBytes: () => measures.largestRssBytes(config.services.map(({ name }) => name)),
    environment,
    cwd: process.cwd(),
    codeRoot: CODE_ROOT,
  });

  const asked = {
    ...ground,
    gate,
    planner,
    book,
    instances,
    wishes,
    proxies,
    config: () => config,
    connectionLimit: surroundings.connectionLimit,
    clearance: createClearance(preflight, journal, ground.record),
    wake,
  };
  const rolloutControl = createRolloutControl({ ...asked, rollouts });
  const control: Control = {
    ...rolloutControl,
    ...createServiceControl(asked),
    ...createReloadControl({
      ...asked,
      rollouts: rolloutControl,
      app: appOf,
      definitions,
    }),
    ...createInquiries({
      ...asked,
      health,
      logs,
      preflight,
      app: appOf,
      workers: surroundings.workers,
      envNow(instance) {
        const env = definitions.envOf(instance);
        return env === null ? null : envHashes(env);
      },
      loggedInstances: () =>
        readdirSync(paths.logs).flatMap((file) => (file.endsWith(".log") ? [file.slice(0, -4)] : [])),
    }),
    ...releases.updates,
    status: async (text = ground.record) => {
      await Promise.all([refreshCounters(), surroundings.refresh()]);
      return status(text);
    },
    async reexec() {
      parts.reexec();
    },
  };
  const front = createFront({ ...ground, control, rollouts, proxies, database, config, version, lifetime });

  async function bringUpDatabase(): Promise<void> {
    const say = (message: string) => void journal.write({ type: "database.progressed", message });
    const warn = (message: Sentence | null): void => {
      if (message === null) warnings.delete("database");
      else warnings.set("database", message);
      if (message !== null) log.error(message(en));
    };
    const isAnyRunning = () => book.services().length > 0;
    try {
      await startDatabase({ clock, database, say, warn, isAnyRunning }, lifetime.signal);
      if (config.usesDatabase && !lifetime.signal.aborted) await surroundings.runOnce();
      if (!lifetime.signal.aborted) await releases.start();
      wake();
    } catch (error) {
      broken.reject(error);
    }
  }

  let bringingUp: Promise<void> = Promise.resolve();
  return {
    broken: broken.promise,
    async start() {
      const { adopted, strays } = adoptInstances({
        ...ground,
        book,
        instances,
        config,
        proxyStop: proxyStop(config.proxy),
      });
      if (strays.length > 0) warnings.set("strays", describeStrays(strays));
      opening = adopted === 0 && !parts.isSupervised;
      await supervisor.start();
      if (opening) await open();
      await front.start();
      surroundings.start();
      bringingUp = bringUpDatabase();
    },
    async stop() {
      journal.write({ type: "owld.stopping", message: ground.record.recorded.stopping });
      lifetime.abort(new OwlError("supervisor.stopping", "owld is stopping."));
      await bringingUp;
      await releases.stop();
      // The door first: a client that comes now waits in systemd's backlog (or is refused), instead of being let in to
      // a 503. What is in flight ends meanwhile, answered by services that drain.
      await proxies.closeDoor();
      await supervisor.drainAll();
      await supervisor.stop();
      await proxies.letGo();
      await surroundings.stop();
      await database.stop();
      definitions.stopped();
      await finish();
    },
    killAll: supervisor.killAll,
    async letGo() {
      lifetime.abort(new OwlError("supervisor.stopping", "owld lets go."));
      await releases.stop();
      await supervisor.stop();
      await proxies.letGo();
      database.letGo();
      await finish();
    },
    async reload() {
      try {
        await control.reload(ground.record);
      } catch (error) {
        log.error({ err: asError(error) }, "the configuration was not reloaded");
      }
    },
  };

  /** With nothing to look after, a proxy that cannot start ends owld with its sentence, and nothing else has begun. */
  async function open(): Promise<void> {
    try {
      await proxies.settled();
    } catch (error) {
      await proxies.closeDoor();
      const gone = supervisor.drainAll();
      supervisor.killAll();
      await gone;
      throw error;
    }
    opening = false;
    wake();
  }

  async function finish(): Promise<void> {
    await health.stop();
    lookout.stop();
    await front.stop();
    spawner.stop();
    store.close();
  }
}
