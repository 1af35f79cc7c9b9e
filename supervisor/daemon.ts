// owld, put together: every adapter is built here and handed to those who see it through a port only.
// Invariant: nothing is used before it exists; what calls back to something built later goes through a relay.

import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { inheritedEnv } from "../config/instance-env.ts";
import { appConfigWith, CODE_ROOT } from "../config/load.ts";
import type { Environment } from "../config/locate.ts";
import { systemRandom } from "../config/system-time.ts";
import type { Control } from "./control/control.ts";
import { createFront } from "./control/front.ts";
import { createOperations } from "./control/operations.ts";
import { isOnTrial } from "./core/confirm.ts";
import { PROXY } from "./core/instance.ts";
import { createHealthWatch } from "./instances/health.ts";
import { createExitedLookout } from "./instances/left-over.ts";
import { createInstances, type Instances } from "./instances/life.ts";
import { createRouting } from "./instances/routing.ts";
import { createTimedRuns } from "./instances/schedules/timed-runs.ts";
import { serviceProgram } from "./instances/service-program.ts";
import { createSurroundings } from "./instances/surroundings.ts";
import { createSupervisor } from "./loop.ts";
import { createLateness } from "./observe/lateness.ts";
import { createLogDrops } from "./observe/log-drops.ts";
import { createStatusReader } from "./observe/status.ts";
import { createBackups, noteRewound } from "./postgres/backups/service.ts";
import { createDatabaseService } from "./postgres/database-service.ts";
import { createPreflight } from "./preflight/preflight.ts";
import { freePort } from "./process/free-port.ts";
import { createHealthProbe } from "./process/health-probe.ts";
import { createInstanceLogs, limitsOf } from "./process/log-file.ts";
import { createUsageSampler } from "./process/usage.ts";
import { createCertificates } from "./proxies/certificates/certificates.ts";
import { createProxySet } from "./proxies/set.ts";
import { createComparison, freshCounters } from "./rollouts/comparison.ts";
import { createRolloutRunner } from "./rollouts/record.ts";
import { createConfigInForce, createLoader } from "./state/config-in-force.ts";
import type { DefinitionRecord, DefinitionText } from "./state/definition.ts";
import { createDefinitions } from "./state/definitions.ts";
import { openFoundation } from "./state/foundation.ts";
import { createLifetime } from "./state/lifetime.ts";
import { createRelay } from "./state/relay.ts";
import { createUpdateService } from "./updates/service.ts";

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
  readonly isSupervised: boolean;
  /** Asked to be started again with new code. */
  readonly reexec: () => void;
  /** Called by every turn of the main loop. */
  readonly beat: () => void;
}

/** `start` resolves when the control socket is up and adoption is done; services come up after that. */
export function createDaemon(parts: DaemonParts) {
  const ground = openFoundation(parts.config, parts.log, { version: parts.version, path: CODE_ROOT });
  const { clock, paths, book, course, folder, loop, wake, failed, warned } = ground;
  const lives = createRelay<Instances>("the instances");
  const serving = () => course.serving(folder.running);
  const inForce = createConfigInForce(parts.config, CODE_ROOT);
  // Cut in the middle of an update, the services may run from another release than this owld.
  const load = createLoader(parts.loadConfig, paths.ownReleases, () => serving().path);
  inForce.useCode(serving().path, (root) => load(parts.definition.inForce, parts.definition.releases, root));
  const config = inForce.now;
  const database = createDatabaseService({
    ...parts,
    clock,
    random: systemRandom,
    codeRoot: CODE_ROOT,
    mayMigrateIncompatibly: () => book.services().length === 0,
    // Cut in an update, the database is in that update's hands.
    mayPrepare: () => course.present() === null,
    rewound: () => noteRewound(ground),
  });
  const backups = createBackups({ ...parts, ground, config, database });
  const app = (of: Config) => appConfigWith(of.app, database.url());
  const proxies = createProxySet({
    ...ground,
    life: lives.reach,
    release: parts.version,
    env: inheritedEnv(parts.environment),
    config: () => config().proxy,
    listenFds: parts.listenFds,
  });
  const certificates = createCertificates({ ...parts, ...ground, proxies, config: () => config().proxy });
  const timed = createTimedRuns({ ...parts, ...ground, config, release: () => serving().version });
  const living = () => new Set([...book.all(), ...timed.all()].map(({ id }) => id));
  const bounds = { living, limits: limitsOf(config), dropped: createLogDrops(ground) };
  const logs = createInstanceLogs({ directory: paths.logs, clock, ...bounds });
  /** What most of the following needs; each names what it takes. */
  const cared = { database, backups, proxies, certificates, refreshCounters: () => freshCounters(clock, proxies) };
  const house = { ...parts, ground, ...ground, config, app, ...cared, logs };
  const routing = createRouting({
    ...house,
    acknowledged: wake,
    failed(error) {
      failed("the routing table was not taken")(error);
      wake();
    },
  });
  const rollouts = createRolloutRunner({
    ...house,
    jobCounts: async (ids) => (await database.metastore()?.jobCounts?.(ids)) ?? null,
    changed: wake,
    kept: () => config().retention.rollouts,
  });
  const definitions = createDefinitions({
    ...house,
    rollouts,
    kept: parts.definition,
    readText: parts.readConfigText,
    load,
    inForce: config,
    use(next) {
      inForce.use(next);
      backups.settle();
      wake();
    },
  });
  const health = createHealthWatch({
    clock,
    probe: createHealthProbe(clock),
    instance: book.get,
    service: definitions.serviceOf,
    onTrial: (instance) => isOnTrial(rollouts.facts(), instance),
    env: (instance) => definitions.envOf(instance) ?? {},
    ...{ passed: (id) => lives.reach().passed(id), failing: (id, why) => lives.reach().failing(id, why) },
    broken: failed("a health check failed by itself"),
  });
  const lookout = createExitedLookout({ ...ground, failed: failed("left-over processes were not looked for") });
  const programs = { ...house, health, freePort, release: () => serving().version, definitionFor: definitions.forNew };
  const instances = createInstances({
    ...house,
    routing,
    programOf: (service) => (service === PROXY ? proxies.program : serviceProgram(programs, service)),
    idleTimeoutMs: () => config().proxy.drainTimeoutMs,
    confirmMs: () => rollouts.facts()?.confirmMs ?? 0,
    milestone: (...told) => rollouts.note(...told),
    gone(instance) {
      lookout.note(instance);
      database.metastore()?.markGone(instance.id).catch(warned("the worker was not marked as gone"));
    },
  });
  lives.connect(instances);
  const surroundings = createSurroundings({
    ...house,
    ...{ sampler: createUsageSampler(clock, ground.reader), metastore: database.metastore, definitions, timed },
    changed: wake,
    failed: warned("the surroundings were not read whole"),
  });
  const lived = { ...house, definitions, rollouts, routing, health, instances, surroundings, timed };
  const standing = createStatusReader(lived);
  const supervisor = createSupervisor({
    ...lived,
    ...course,
    ...surroundings,
    opening: () => ground.door.opening,
    doubts: health.doubts,
    comparison: createComparison({ ...house, lateness: createLateness(), changed: wake }),
    held: () => config().usesDatabase && database.url() === null,
    settleDefinitions: definitions.settle,
    turned() {
      parts.beat();
      standing.noteTurn();
    },
  });
  loop.connect(supervisor);
  const preflight = createPreflight({
    ...house,
    databaseUrl: database.url,
    listening: proxies.listening,
    ownPids: () => new Set([process.pid, ...proxies.processes().map(({ pid }) => pid)]),
    largestInstanceBytes: () => ground.measures.largestRssBytes(config().services.map(({ name }) => name)),
    ...{ cwd: process.cwd(), codeRoot: CODE_ROOT },
  });
  const operations = createOperations({ ...lived, supervisor, preflight });
  const updating = createUpdateService({
    ...lived,
    ...surroundings,
    operations,
    status: standing.fresh,
    changed() {
      inForce.useCode(serving().path, definitions.reload);
      wake();
    },
  });
  const own = { status: standing.fresh, reexec: async () => parts.reexec(), backUp: async () => backups.now() };
  const control: Control = { ...operations.control, ...updating.updates, ...own };
  const front = createFront({ ...lived, control, lifetime: ground.ends, config: config() });
  const lasting = { ...lived, ...operations, ...standing };
  return createLifetime({ ...lasting, supervisor, lookout, control, attendance: updating, front });
}
