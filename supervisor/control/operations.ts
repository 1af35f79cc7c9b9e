// What operators ask of the supervisor: each request is checked, refused with the way on, or handed to the loop.
// Invariant: a refused request has changed nothing; an accepted one is on record before it is answered.

import type { AppConfig, Config, ServiceConfig } from "../../config/config.ts";
import type { Changed, Rollout, RolloutRequest, ScaleRequest, Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { shownConfig } from "../../config/shown.ts";
import { type Instance, isLiving, isServing } from "../core/instance.ts";
import {
  describePlan,
  inOrder,
  type PlannedService,
  planCount,
  planSteps,
  restartTargets,
} from "../core/rollout-plan.ts";
import type { InstanceBook } from "../instance-book.ts";
import { configHash } from "../instance-launch.ts";
import type { Instances } from "../instances.ts";
import type { Journal } from "../journal.ts";
import type { Measures } from "../measures.ts";
import type { InstanceLogs, Preflight, ProxySet } from "../ports.ts";
import type { RolloutRunner } from "../rollout-runner.ts";
import type { ServiceWishes } from "../service-wishes.ts";
import type { Store } from "../state/store.ts";
import type { Updates } from "../updates.ts";
import { createClearance, refuseOverBudget as refuseOver } from "./clearance.ts";
import type { Control } from "./control.ts";
import { eventStream } from "./event-lines.ts";
import { unknownInstance, unknownRollout, unknownService } from "./names.ts";
import { explain, type WhyParts } from "./why.ts";

export interface OperationParts extends WhyParts {
  readonly book: InstanceBook;
  readonly instances: Instances;
  readonly rollouts: RolloutRunner;
  readonly journal: Journal;
  readonly measures: Measures;
  readonly wishes: ServiceWishes;
  readonly store: Store;
  readonly preflight: Preflight;
  readonly updates: Pick<Updates, "stageRelease" | "update" | "planUpdate" | "rollback" | "planRollback">;
  readonly logs: InstanceLogs;
  readonly proxies: Pick<ProxySet, "counters" | "replace">;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  /** Reads owl.yaml again. Throws `config.invalid`. */
  readonly loadConfig: () => Config;
  readonly useConfig: (config: Config) => void;
  readonly status: () => Promise<Status>;
  readonly connectionLimit: () => number | null;
  readonly isStopping: () => boolean;
  readonly wake: () => void;
  readonly reexec: () => void;
  /** Instances whose log is still there. */
  readonly loggedInstances: () => readonly string[];
  readonly failed: (error: unknown, what: string) => void;
}

export function createOperations(parts: OperationParts): Control {
  const { book, rollouts, wishes, journal } = parts;
  const services = (): readonly ServiceConfig[] => parts.config().services;
  const clearance = createClearance(parts.preflight, journal);
  const serviceNames = (): string[] => services().map(({ name }) => name);
  const isRouted = (config: Config) => (name: string) =>
    (config.services.find((service) => service.name === name)?.routes.length ?? 0) > 0;

  function serviceNamed(name: string): ServiceConfig {
    const found = services().find((service) => service.name === name);
    if (found === undefined) throw unknownService(name, serviceNames());
    return found;
  }

  const refuseWhileBusy = (): void => refuseBusy(rollouts.running(), parts.isStopping());

  function refuseWithoutDisk(): void {
    const failing = parts.store.failing();
    if (failing === null) return;
    throw new OwlError("disk.full", `The state file cannot be written (${failing}), so no step could be recorded.`, {
      next: "Free some space in the state directory and ask again; supervision goes on meanwhile.",
    });
  }

  const refuseOverBudget = (config: Config, replicas: (service: ServiceConfig) => number): void =>
    refuseOver(config, replicas, parts.connectionLimit());

  function planned(config: Config): readonly PlannedService[] {
    const { surge, healthTimeoutMs } = config.rollout;
    return config.services.map((service) => {
      const { startMs, drainMs, peakRssBytes } = parts.measures.of(service.name);
      const replicas = config === parts.config() ? wishes.replicas(service) : service.replicas;
      const routed = service.routes.length > 0;
      return {
        name: service.name,
        count: 0,
        startMs,
        drainMs,
        healthTimeoutMs,
        graceMs: service.stop.graceMs,
        idleTimeoutMs: routed && service.stop.after === "idle" ? config.proxy.drainTimeoutMs : 0,
        width: surge === "auto" ? Math.max(1, replicas) : surge,
        routed,
        replicas,
        connections: service.connections,
        memoryBytes: peakRssBytes,
      };
    });
  }

  function plan(targets: readonly Instance[], config: Config, notes: readonly string[]) {
    const connectionLimit = parts.connectionLimit();
    return describePlan({ targets, services: planned(config), instances: book.all(), connectionLimit, notes });
  }

  function begin(targets: readonly Instance[], config: Config, warned: readonly string[], askedBy?: string): Rollout {
    const { expectedMs, worstMs, notes } = plan(targets, config, warned);
    const ids = targets.map(({ id }) => id);
    const rollout = rollouts.begin(
      "restart",
      ids,
      planSteps(targets, isRouted(config)),
      { expectedMs, worstMs },
      { notes, askedBy },
    );
    parts.wake();
    return rollout;
  }

  function targetsOf(request: RolloutRequest): readonly Instance[] {
    const asked = request.services === undefined || request.services.length === 0 ? null : request.services;
    for (const name of asked ?? []) {
      if (!wishes.isStopped(serviceNamed(name))) continue;
      throw new OwlError("service.stopped", `${name} is stopped, so there is nothing to replace.`, {
        next: `Start it: owlctl start ${name}`,
      });
    }
    return restartTargets(book.all(), serviceNames(), asked, rollouts.last(), request.all === true);
  }

  /** What another configuration would change. */
  function compare(next: Config): { readonly replaced: readonly Instance[]; readonly notes: readonly string[] } {
    const notes: string[] = [];
    const replaced = book.all().filter((instance) => {
      const service = next.services.find(({ name }) => name === instance.service);
      if (service === undefined || instance.wanted === "down" || !isLiving(instance)) return false;
      return instance.configHash !== configHash(service, parts.app(next));
    });
    for (const service of next.services) {
      const now = services().find(({ name }) => name === service.name);
      const touched = replaced.filter((instance) => instance.service === service.name).length;
      if (now === undefined) notes.push(`${service.name} is new: ${service.replicas} are started.`);
      else if (now.replicas !== service.replicas)
        notes.push(`${service.name}: ${now.replicas} to ${service.replicas}.`);
      else if (touched === 0 && JSON.stringify(now) !== JSON.stringify(service))
        notes.push(`${service.name}: taken over without a restart.`);
      if (touched > 0) notes.push(`${service.name}: ${touched} are replaced, for what runs has changed.`);
    }
    for (const { name } of services()) {
      if (!next.services.some((service) => service.name === name))
        notes.push(`${name} is gone: its instances are stopped.`);
    }
    if (JSON.stringify(next.proxy) !== JSON.stringify(parts.config().proxy))
      notes.push("The proxy is replaced by one with its new settings.");
    if (next.home !== parts.config().home)
      notes.push("The state directory stays as it is until owld is started again.");
    return {
      replaced: inOrder(
        replaced,
        next.services.map(({ name }) => name),
      ),
      notes,
    };
  }

  function checkScale(wanted: ScaleRequest): void {
    for (const [name, replicas] of Object.entries(wanted)) {
      serviceNamed(name);
      if (Number.isInteger(replicas) && replicas >= 0 && replicas <= 1_000) continue;
      throw new OwlError("request.invalid", `${name}=${replicas}: a whole number from 0 to 1000 is expected.`);
    }
    refuseOverBudget(parts.config(), (service) => wanted[service.name] ?? wishes.replicas(service));
  }

  function scaleNotes(wanted: ScaleRequest): string[] {
    return Object.entries(wanted).flatMap(([name, replicas]) => {
      const now = wishes.replicas(serviceNamed(name));
      return now === replicas ? [] : [`${name}: ${now} to ${replicas}.`];
    });
  }

  const countSteps = (name: string, to: number, config: Config) =>
    planCount(
      name,
      book.all().filter((one) => one.service === name && one.wanted === "up"),
      to,
      isRouted(config)(name),
    );

  function changed(notes: readonly string[], rollout: Rollout | null = null): Changed {
    parts.wake();
    return { changed: notes.length > 0 || rollout !== null, notes, rollout };
  }

  function rolloutNamed(id: string): Rollout {
    const found = rollouts.get(id);
    if (found === null)
      throw unknownRollout(
        id,
        rollouts.all().map((one) => one.id),
      );
    return found;
  }

  const instanceIds = (): string[] => book.all().map(({ id }) => id);

  return {
    status: parts.status,
    async restart(request, askedBy) {
      refuseWhileBusy();
      refuseWithoutDisk();
      targetsOf(request);
      refuseOverBudget(parts.config(), wishes.replicas);
      const warned = await clearance.ask(parts.config());
      // Meanwhile another one may have begun, or an instance have come or gone.
      refuseWhileBusy();
      return begin(targetsOf(request), parts.config(), warned, askedBy);
    },
    async planRestart(request) {
      return plan(targetsOf(request), parts.config(), []);
    },
    rollouts: async () => rollouts.all(),
    rollout: async (id) => rolloutNamed(id),
    async watchRollout(id, signal) {
      rolloutNamed(id);
      return rollouts.watch(id, signal);
    },
    async cancelRollout(id) {
      const running = rollouts.running();
      if (id !== null && rolloutNamed(id).state !== "running") return rolloutNamed(id);
      const cancelled = running === null ? null : rollouts.cancel();
      if (cancelled === null) {
        throw new OwlError("rollout.unknown", "No rollout is running.", {
          next: "See the past ones: owlctl rollout list",
        });
      }
      parts.wake();
      return cancelled;
    },
    events: async (query, signal) => eventStream(journal, query, signal),
    async logs(query, signal) {
      const { target, ...rest } = query;
      const known = [...new Set([...parts.loggedInstances(), ...instanceIds()])];
      const isService = target !== null && (serviceNames().includes(target) || target === "proxy");
      const instances = known.filter(
        (id) => target === null || id === target || (isService && id.replace(/-\d+$/, "") === target),
      );
      if (instances.length === 0 && target !== null && !isService)
        throw unknownInstance(target, [...serviceNames(), ...known]);
      return parts.logs.read({ ...rest, instances }, signal);
    },
    async reload() {
      refuseWhileBusy();
      const next = parts.loadConfig();
      refuseWithoutDisk();
      refuseOverBudget(next, (service) => service.replicas);
      const warned = compare(next).replaced.length === 0 ? [] : await clearance.ask(next);
      refuseWhileBusy();
      const before = parts.config();
      const { replaced, notes } = compare(next);
      parts.useConfig(next);
      journal.write({
        type: "config.reloaded",
        message:
          notes.length === 0
            ? "The configuration is read again: nothing differs."
            : `The configuration is read again. ${notes.join(" ")}`,
      });
      if (JSON.stringify(before.proxy) !== JSON.stringify(next.proxy)) {
        parts.proxies.replace(next.proxy).catch((error: unknown) => parts.failed(error, "the proxy was not replaced"));
      }
      return changed(notes, replaced.length === 0 ? null : begin(replaced, next, warned));
    },
    async planReload() {
      const next = parts.loadConfig();
      const { replaced, notes } = compare(next);
      const described = plan(replaced, next, notes);
      // Numbers that change beside what is replaced, services that come or go.
      const names = new Set([...serviceNames(), ...next.services.map(({ name }) => name)]);
      const counted = [...names].flatMap((name) => {
        const to = next.services.find((one) => one.name === name)?.replicas ?? 0;
        const from = services().find((one) => one.name === name)?.replicas ?? 0;
        return from === to ? [] : countSteps(name, to, next);
      });
      const steps = [...described.steps, ...counted];
      return { ...described, steps, changes: described.changes || notes.length > 0 };
    },
    async scale(wanted) {
      refuseWhileBusy();
      checkScale(wanted);
      const notes = scaleNotes(wanted);
      for (const [name, replicas] of Object.entries(wanted)) wishes.scale(serviceNamed(name), replicas);
      if (notes.length > 0) journal.write({ type: "service.scaled", message: notes.join(" ") });
      return changed(notes);
    },
    async planScale(wanted) {
      checkScale(wanted);
      const notes = scaleNotes(wanted);
      const steps = Object.entries(wanted).flatMap(([name, replicas]) => countSteps(name, replicas, parts.config()));
      return { ...plan([], parts.config(), notes), steps, changes: notes.length > 0 };
    },
    async start(name) {
      refuseWhileBusy();
      const service = services().find((one) => one.name === name);
      if (service !== undefined) {
        const was = wishes.isStopped(service) || wishes.stoppedInstances(service).length > 0;
        wishes.setStopped(service, false);
        if (was) journal.write({ type: "service.started", service: name, message: `${name} is started.` });
        return changed(was ? [`${name} is started.`] : []);
      }
      for (const one of services()) {
        if (!wishes.startInstance(one, name)) continue;
        const note = `An instance of ${one.name} is started in the place of ${name}; numbers never repeat.`;
        journal.write({ type: "instance.started", service: one.name, instance: name, message: note });
        return changed([note]);
      }
      if (book.get(name) !== null) return changed([]);
      throw unknownInstance(name, [...serviceNames(), ...instanceIds()]);
    },
    async stop(name) {
      refuseWhileBusy();
      const service = services().find((one) => one.name === name);
      if (service !== undefined) {
        if (wishes.isStopped(service)) return changed([]);
        wishes.setStopped(service, true);
        journal.write({ type: "service.stopped", service: name, message: `${name} is stopped by an operator.` });
        return changed([`${name} is stopped; it stays so until: owlctl start ${name}`]);
      }
      const instance = book.get(name);
      const owner = instance === null ? undefined : services().find((one) => one.name === instance.service);
      if (instance === null || owner === undefined) throw unknownInstance(name, [...serviceNames(), ...instanceIds()]);
      if (instance.wanted === "down") return changed([]);
      wishes.stopInstance(owner, name);
      if (isLiving(instance)) parts.instances.leave(name, "stopped by an operator");
      else parts.instances.discard(name);
      return changed([`${name} is stopped; it stays so until: owlctl start ${name}`]);
    },
    async kill(name) {
      const instance = book.get(name);
      if (instance === null || !isLiving(instance)) throw unknownInstance(name, instanceIds());
      const inFlight = parts.proxies.counters().upstreams.find(({ id }) => id === name)?.inFlight ?? 0;
      parts.instances.kill(name, "killed by an operator");
      parts.wake();
      const notes = [
        `${name} and its process group got SIGKILL.`,
        inFlight === 0 ? "No request was in flight in it." : `${inFlight} requests in flight in it were cut.`,
      ];
      return { instance: name, notes };
    },
    async why(target) {
      return explain(parts, target, serviceNames());
    },
    stageRelease: (source) => parts.updates.stageRelease(source),
    async update(request) {
      refuseWithoutDisk();
      return await parts.updates.update(request);
    },
    planUpdate: (request) => parts.updates.planUpdate(request),
    async rollback(version) {
      refuseWithoutDisk();
      return await parts.updates.rollback(version);
    },
    planRollback: (version) => parts.updates.planRollback(version),
    preflight: () => parts.preflight.run(),
    config: async () => ({ file: parts.config().file, config: shownConfig(parts.config()) }),
    async reexec() {
      parts.reexec();
    },
    appTarget() {
      const bundled = new Set(
        services()
          .filter((one) => one.bundled && one.routes.length > 0)
          .map(({ name }) => name),
      );
      return book.all().find((one) => bundled.has(one.service) && isServing(one))?.target ?? null;
    },
  };
}

/** One rollout at a time, and none while owld stops. Throws `rollout.busy` or `supervisor.stopping`. */
export function refuseBusy(running: Rollout | null, isStopping: boolean): void {
  if (isStopping) throw new OwlError("supervisor.stopping", "owld is stopping.", { next: "Start it again first." });
  if (running === null) return;
  throw new OwlError("rollout.busy", `Rollout ${running.id} is running.`, {
    next: `Watch it: owlctl rollout watch ${running.id}`,
    data: { rollout: running.id },
  });
}
