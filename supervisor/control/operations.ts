// What operators ask of the supervisor: each request is checked, refused with the way on, or handed to the loop.
// Invariant: a refused request has changed nothing; an accepted one is on record before it is answered.

import type { AppConfig, Config, ServiceConfig } from "../../config/config.ts";
import type { Changed, Rollout, RolloutRequest, ScaleRequest, Status } from "../../config/control-api.ts";
import { shownConfig } from "../../config/shown.ts";
import { type Instance, isLiving, isServing } from "../core/instance.ts";
import {
  describePlan,
  type PlanFacts,
  type PlannedService,
  planCount,
  planSteps,
  restartTargets,
} from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { Instances } from "../instances/life.ts";
import type { ServiceWishes } from "../instances/wishes.ts";
import type { Measures } from "../observe/measures.ts";
import type { InstanceLogs, Preflight, ProxySet } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Store } from "../state/store.ts";
import type { Updates } from "../updates/request.ts";
import { createClearance, refuseOverBudget as refuseOver } from "./clearance.ts";
import type { Control } from "./control.ts";
import { eventStream } from "./event-lines.ts";
import { unknownInstance, unknownRollout, unknownService } from "./names.ts";
import { compareConfigs } from "./reload-diff.ts";
import { explain, type WhyParts } from "./why.ts";

interface OperationParts extends WhyParts {
  readonly book: InstanceBook;
  readonly instances: Instances;
  readonly rollouts: RolloutRunner;
  readonly journal: Journal;
  /** The installation's language: what is written down is written once, in it. */
  readonly record: Text;
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
  readonly status: (text?: Text) => Promise<Status>;
  readonly connectionLimit: () => number | null;
  readonly isStopping: () => boolean;
  readonly wake: () => void;
  readonly reexec: () => void;
  /** Instances whose log is still there. */
  readonly loggedInstances: () => readonly string[];
  readonly failed: (error: unknown, what: string) => void;
}

export function createOperations(parts: OperationParts): Control {
  const { book, rollouts, wishes, journal, record } = parts;
  const services = (): readonly ServiceConfig[] => parts.config().services;
  const clearance = createClearance(parts.preflight, journal, record);
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
    throw new Refusal("disk.full", ({ refused }) => refused.diskFull(failing));
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

  function plan(
    targets: readonly Instance[],
    config: Config,
    notes: readonly string[],
    text: Text,
    counts: PlanFacts["counts"] = [],
  ) {
    const connectionLimit = parts.connectionLimit();
    const facts = { targets, services: planned(config), instances: book.all(), connectionLimit, notes, counts };
    return describePlan(facts, text);
  }

  function begin(targets: readonly Instance[], config: Config, warned: readonly string[], askedBy?: string): Rollout {
    const { expectedMs, worstMs, notes } = plan(targets, config, warned, record);
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
      throw new Refusal("service.stopped", ({ refused }) => refused.serviceStopped(name));
    }
    return restartTargets(book.all(), serviceNames(), asked, rollouts.last(), request.all === true);
  }

  const compare = (next: Config) => compareConfigs(parts.config(), next, book.all(), parts.app);

  function checkScale(wanted: ScaleRequest): void {
    for (const [name, replicas] of Object.entries(wanted)) {
      serviceNamed(name);
      if (Number.isInteger(replicas) && replicas >= 0 && replicas <= 1_000) continue;
      throw new Refusal("request.invalid", ({ refused }) => refused.request.replicas(name, replicas));
    }
    refuseOverBudget(parts.config(), (service) => wanted[service.name] ?? wishes.replicas(service));
  }

  /** Sentences on numbers that differ from those of now, to be said in any language. */
  function scaleNotes(wanted: ScaleRequest): (text: Text) => string[] {
    const counts = Object.entries(wanted).map(([name, to]) => ({
      name,
      to,
      from: wishes.replicas(serviceNamed(name)),
    }));
    const changing = counts.filter(({ from, to }) => from !== to);
    return ({ plan }) => changing.map(({ name, from, to }) => plan.count(name, from, to));
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
        rollouts.recent(NAMED).map((one) => one.id),
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
    async planRestart(request, text) {
      return plan(targetsOf(request), parts.config(), [], text);
    },
    rollouts: async ({ limit, before }) => rollouts.recent(limit, before),
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
        throw new Refusal("rollout.unknown", ({ refused }) => refused.noRollout());
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
    async reload(text) {
      refuseWhileBusy();
      const next = parts.loadConfig();
      refuseWithoutDisk();
      refuseOverBudget(next, (service) => service.replicas);
      const warned = compare(next).replaced.length === 0 ? [] : await clearance.ask(next);
      refuseWhileBusy();
      const before = parts.config();
      const { replaced, notes } = compare(next);
      parts.useConfig(next);
      journal.write({ type: "config.reloaded", message: record.recorded.reloaded(notes(record)) });
      if (JSON.stringify(before.proxy) !== JSON.stringify(next.proxy)) {
        parts.proxies.replace(next.proxy).catch((error: unknown) => parts.failed(error, "the proxy was not replaced"));
      }
      return changed(notes(text), replaced.length === 0 ? null : begin(replaced, next, warned));
    },
    async planReload(text) {
      const next = parts.loadConfig();
      const { replaced, notes } = compare(next);
      // Numbers that change beside what is replaced, services that come or go.
      const names = new Set([...serviceNames(), ...next.services.map(({ name }) => name)]);
      const counts = [...names].flatMap((name) => {
        const to = next.services.find((one) => one.name === name)?.replicas ?? 0;
        const from = services().find((one) => one.name === name)?.replicas ?? 0;
        return from === to ? [] : [{ name, from, to }];
      });
      const described = plan(replaced, next, notes(text), text, counts);
      const steps = [...described.steps, ...counts.flatMap(({ name, to }) => countSteps(name, to, next))];
      return { ...described, steps, changes: described.changes || notes(text).length > 0 };
    },
    async scale(wanted, text) {
      refuseWhileBusy();
      checkScale(wanted);
      const notes = scaleNotes(wanted);
      for (const [name, replicas] of Object.entries(wanted)) wishes.scale(serviceNamed(name), replicas);
      const written = notes(record);
      if (written.length > 0) journal.write({ type: "service.scaled", message: written.join(" ") });
      return changed(notes(text));
    },
    async planScale(wanted, text) {
      checkScale(wanted);
      const notes = scaleNotes(wanted)(text);
      const counts = Object.entries(wanted).map(([name, to]) => ({
        name,
        from: wishes.replicas(serviceNamed(name)),
        to,
      }));
      const steps = counts.flatMap(({ name, to }) => countSteps(name, to, parts.config()));
      return { ...plan([], parts.config(), notes, text, counts), steps, changes: notes.length > 0 };
    },
    async start(name, text) {
      refuseWhileBusy();
      const service = services().find((one) => one.name === name);
      if (service !== undefined) {
        const was = wishes.isStopped(service) || wishes.stoppedInstances(service).length > 0;
        wishes.setStopped(service, false);
        if (was) journal.write({ type: "service.started", service: name, message: record.done.started(name) });
        return changed(was ? [text.done.started(name)] : []);
      }
      for (const one of services()) {
        if (!wishes.startInstance(one, name)) continue;
        const message = record.done.startedInPlace(one.name, name);
        journal.write({ type: "instance.started", service: one.name, instance: name, message });
        return changed([text.done.startedInPlace(one.name, name)]);
      }
      if (book.get(name) !== null) return changed([]);
      throw unknownInstance(name, [...serviceNames(), ...instanceIds()]);
    },
    async stop(name, text) {
      refuseWhileBusy();
      const service = services().find((one) => one.name === name);
      if (service !== undefined) {
        if (wishes.isStopped(service)) return changed([]);
        wishes.setStopped(service, true);
        journal.write({ type: "service.stopped", service: name, message: record.recorded.stopped(name) });
        return changed([text.done.stopped(name)]);
      }
      const instance = book.get(name);
      const owner = instance === null ? undefined : services().find((one) => one.name === instance.service);
      if (instance === null || owner === undefined) throw unknownInstance(name, [...serviceNames(), ...instanceIds()]);
      if (instance.wanted === "down") return changed([]);
      wishes.stopInstance(owner, name);
      if (isLiving(instance)) parts.instances.leave(name, record.recorded.cause.byOperator);
      else parts.instances.discard(name);
      return changed([text.done.stopped(name)]);
    },
    async kill(name, text) {
      const instance = book.get(name);
      if (instance === null || !isLiving(instance)) throw unknownInstance(name, instanceIds());
      const inFlight = parts.proxies.counters().upstreams.find(({ id }) => id === name)?.inFlight ?? 0;
      parts.instances.kill(name, record.recorded.cause.killedByOperator);
      parts.wake();
      return { instance: name, notes: [text.done.killed(name), text.done.cut(inFlight)] };
    },
    async why(target, text) {
      return explain(parts, target, serviceNames(), text);
    },
    stageRelease: (source) => parts.updates.stageRelease(source),
    async update(request) {
      refuseWithoutDisk();
      return await parts.updates.update(request);
    },
    planUpdate: (request, text) => parts.updates.planUpdate(request, text),
    async rollback(version) {
      refuseWithoutDisk();
      return await parts.updates.rollback(version);
    },
    planRollback: (version, text) => parts.updates.planRollback(version, text),
    preflight: (text) => parts.preflight.run(text),
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

/** Of so many the nearest id is told to who asks for one that is not there. */
const NAMED = 50;

/** One rollout at a time, and none while owld stops. Throws `rollout.busy` or `supervisor.stopping`. */
export function refuseBusy(running: Rollout | null, isStopping: boolean): void {
  if (isStopping) throw new Refusal("supervisor.stopping", ({ refused }) => refused.stopping());
  if (running === null) return;
  const { id } = running;
  throw new Refusal("rollout.busy", ({ refused }) => refused.busy(id), { data: { rollout: id } });
}
