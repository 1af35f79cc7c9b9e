// What `owlctl status` shows: facts gathered in one go, from memory only, so that it answers in milliseconds.

import type { CertificateStatus } from "../../config/certificate-status.ts";
import type { Config } from "../../config/config.ts";
import type {
  BackupStatus,
  ConnectionsStatus,
  DiskStatus,
  InstanceStatus,
  ServiceStatus,
  Status,
  WorkerStatus,
} from "../../config/control-api.ts";
import type { ProxyCounters } from "../../config/proxy-feed.ts";
import { isoTime } from "../../config/time.ts";
import { type Instance, isLiving, isServing, PROXY } from "../core/instance.ts";
import { isCrashLooping } from "../core/restart-policy.ts";
import { isComplete, type ServiceStanding, supervisorState } from "../core/supervisor-state.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Sentence, Text } from "../core/text/text.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { Surroundings } from "../instances/surroundings.ts";
import type { ServiceWishes } from "../instances/wishes.ts";
import type { DatabaseService, ProxySet, Usage } from "../ports.ts";
import type { Backups } from "../postgres/backups/service.ts";
import { createCertificateWatch } from "../preflight/certificate.ts";
import type { CertificateKeeper } from "../proxies/certificates/keeper.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Definitions } from "../state/definitions.ts";
import type { Foundation } from "../state/foundation.ts";
import { createWearWatch, type WearWatch } from "./wear.ts";

interface StatusParts {
  readonly ground: Foundation;
  readonly config: () => Config;
  readonly proxies: Pick<ProxySet, "processes" | "counters" | "listening" | "trouble">;
  readonly certificates: Pick<CertificateKeeper, "renewal">;
  readonly definitions: Pick<Definitions, "notInForce">;
  readonly surroundings: Surroundings;
  readonly rollouts: RolloutRunner;
  readonly refreshCounters: () => Promise<void>;
  readonly database: Pick<DatabaseService, "metastore">;
  readonly backups: Pick<Backups, "status" | "space">;
  readonly timed: Pick<TimedRuns, "status" | "warnings">;
}

interface StatusReader {
  /** As it stands, counters and connections asked for anew; its warnings in that language, or the installation's. */
  fresh(text?: Text): Promise<Status>;
  /** The loop has turned: once all was complete, the proxy too, owld is settled. */
  noteTurn(): void;
  readonly wear: Pick<WearWatch, "start" | "stop">;
}

export function createStatusReader(parts: StatusParts): StatusReader {
  const { clock, store, warnings, book, wishes, loop } = parts.ground;
  const { surroundings } = parts;
  const { running } = parts.ground.folder;
  const startedAt = clock.now();
  const certificate = createCertificateWatch(clock, parts.config, parts.certificates.renewal);
  const wear = createWearWatch(parts);
  let settled = false;
  const present = () => ({
    ...parts,
    wishes,
    config: parts.config(),
    instances: book.all(),
    nowMs: clock.monotonicMs(),
  });
  return {
    wear,
    async fresh(text = parts.ground.record) {
      await Promise.all([parts.refreshCounters(), surroundings.refresh()]);
      const failing = store.failing();
      const full: Sentence[] = failing === null ? [] : [(t) => t.warnings.diskFull(failing)];
      const trouble = parts.proxies.trouble();
      if (trouble !== null) full.push((t) => t.warnings.proxy(wordsOf(trouble, t).sentence));
      const unread = parts.definitions.notInForce();
      const all = [
        ...(unread === null ? [] : [unread]),
        ...warnings.values(),
        ...full,
        ...certificate.warnings(),
        ...surroundings.warnings(),
        ...parts.timed.warnings(),
      ];
      return buildStatus({
        ...present(),
        version: running.version,
        releasePath: running.path,
        pid: process.pid,
        startedAt,
        usage: surroundings.usage(),
        connections: surroundings.connections(),
        workers: surroundings.workers(),
        backup: parts.backups.status(),
        disks: wear.disks(),
        stopping: loop.reach().isStopping(),
        settled,
        certificate: certificate.status(),
        warnings: all.map((say) => say(text)),
      });
    },
    noteTurn() {
      settled ||= isComplete(standings(present()));
    },
  };
}

interface StatusFacts {
  readonly version: string;
  readonly releasePath: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly nowMs: number;
  readonly config: Config;
  readonly instances: readonly Instance[];
  readonly wishes: ServiceWishes;
  readonly proxies: Pick<ProxySet, "processes" | "counters" | "listening" | "trouble">;
  readonly usage: ReadonlyMap<number, Usage>;
  readonly rollouts: RolloutRunner;
  readonly timed: Pick<TimedRuns, "status">;
  readonly connections: ConnectionsStatus | null;
  readonly workers: readonly WorkerStatus[] | null;
  readonly backup: BackupStatus | null;
  readonly disks: readonly DiskStatus[];
  readonly stopping: boolean;
  /** Every service has once had its replicas ready, and the proxy listens. */
  readonly settled: boolean;
  readonly certificate: CertificateStatus | null;
  readonly warnings: readonly string[];
}

function buildStatus(facts: StatusFacts): Status {
  const counters = facts.proxies.counters();
  const inFlight = new Map(counters.upstreams.map((upstream) => [upstream.id, upstream.inFlight]));
  const services = facts.config.services.map((service): ServiceStatus => {
    const own = facts.instances.filter((instance) => instance.service === service.name);
    const replicas = facts.wishes.replicas(service);
    const schedule = facts.timed.status(service);
    return {
      name: service.name,
      replicas,
      ...(replicas === service.replicas ? {} : { scaledFrom: service.replicas }),
      ready: own.filter(isServing).length,
      wanted: facts.wishes.isStopped(service) ? "down" : "up",
      crashLooping: own.some((one) => isCrashLooping(one, facts.nowMs)),
      restarts: own.reduce((sum, one) => sum + one.restarts, 0),
      ...(service.code?.release ? { release: service.code.release } : {}),
      instances: own.map((instance) => instanceStatus(instance, facts, inFlight)),
      ...(schedule === null ? {} : { schedule }),
    };
  });
  const rollout = facts.rollouts.running();
  return {
    version: facts.version,
    pid: facts.pid,
    startedAt: isoTime(facts.startedAt),
    state: supervisorState({
      services: standings(facts),
      rolling: rollout !== null,
      stopping: facts.stopping,
      settled: facts.settled,
      proxyTrouble: facts.proxies.trouble() !== null,
    }),
    release: { version: facts.version, path: facts.releasePath },
    proxy: proxyStatus(facts, counters),
    services,
    connections: facts.connections,
    workers: facts.workers,
    rollout,
    backup: facts.backup,
    disks: facts.disks,
    warnings: facts.warnings,
  };
}

/** What the overall state is judged by. */
function standings(facts: Pick<StatusFacts, "config" | "instances" | "wishes" | "nowMs">): readonly ServiceStanding[] {
  const { config, wishes } = facts;
  const places = config.services.map((service) => ({ name: service.name, wanted: wishes.wanted(service) }));
  return [{ name: PROXY, wanted: config.proxy.processes }, ...places].map(({ name, wanted }) => {
    const own = facts.instances.filter((one) => one.service === name);
    return {
      wanted,
      ready: own.filter(isServing).length,
      crashLooping: own.some((one) => isCrashLooping(one, facts.nowMs)),
      failing: own.some((one) => one.attempt > 0 || (one.state === "unhealthy" && one.readyMs === null)),
    };
  });
}

function proxyStatus(facts: StatusFacts, counters: ProxyCounters): Status["proxy"] {
  const { inFlight, requests, retries, failures } = counters;
  return {
    listen: facts.proxies.listening(),
    processes: facts.proxies.processes(),
    inFlight,
    requests,
    retries,
    failures,
    certificate: facts.certificate,
  };
}

function instanceStatus(instance: Instance, facts: StatusFacts, inFlight: ReadonlyMap<string, number>): InstanceStatus {
  const pid = isLiving(instance) ? (instance.identity?.pid ?? null) : null;
  const usage = pid === null ? undefined : facts.usage.get(pid);
  return {
    id: instance.id,
    pid,
    state: instance.state,
    release: instance.release,
    startedAt: isoTime(instance.startedAt),
    restarts: instance.restarts,
    inFlight: inFlight.get(instance.id) ?? 0,
    rssBytes: usage?.rssBytes ?? 0,
    cpu: usage?.cpu ?? 0,
    lastExit: instance.lastExit,
  };
}
