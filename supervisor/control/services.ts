// Services and single instances as operators change them: another number, stopped, started, killed.
// Invariant: what is asked is in the state file before it is answered; the loop does it.

import type { Config, ServiceConfig } from "../../config/config.ts";
import type { Changed, ScaleRequest } from "../../config/control-api.ts";
import { formatDuration } from "../../config/units.ts";
import { type Instance, isLiving } from "../core/instance.ts";
import { describePlan } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { Instances } from "../instances/life.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { ServiceWishes } from "../instances/wishes.ts";
import type { ProxySet } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { Control } from "./control.ts";
import { type Gate, refuseTimed } from "./gate.ts";
import { unknownInstance } from "./names.ts";

const MOST_REPLICAS = 1_000;

interface ServiceControlParts {
  readonly gate: Gate;
  readonly planner: Planner;
  readonly book: InstanceBook;
  readonly instances: Pick<Instances, "leave" | "discard" | "kill">;
  readonly wishes: ServiceWishes;
  readonly timed: Pick<TimedRuns, "end" | "all">;
  readonly proxies: Pick<ProxySet, "counters">;
  readonly journal: Pick<Journal, "write">;
  readonly config: () => Config;
  readonly connectionLimit: () => number | null;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly wake: () => void;
}

type ServiceControl = Pick<Control, "scale" | "planScale" | "start" | "stop" | "kill">;

export function createServiceControl(parts: ServiceControlParts): ServiceControl {
  const { gate, book, wishes, journal, record } = parts;
  const services = (): readonly ServiceConfig[] => parts.config().services;
  const instanceIds = (): string[] => book.services().map(({ id }) => id);
  const unknown = (name: string) => unknownInstance(name, [...services().map((one) => one.name), ...instanceIds()]);

  interface Number {
    readonly service: ServiceConfig;
    readonly from: number;
    readonly to: number;
  }

  /** The asked numbers, all of them possible. */
  function numbers(wanted: ScaleRequest): readonly Number[] {
    const asked = Object.entries(wanted).map(([name, to]) => {
      const service = gate.serviceNamed(name);
      refuseTimed(service);
      if (!Number.isInteger(to) || to < 0 || to > MOST_REPLICAS)
        throw new Refusal("request.invalid", ({ refused }) => refused.request.replicas(name, to));
      return { service, from: wishes.replicas(service), to };
    });
    gate.refuseOverBudget(parts.config(), (service) => wanted[service.name] ?? wishes.replicas(service));
    return asked;
  }

  const countNotes = (asked: readonly Number[], { plan }: Text): string[] =>
    asked.flatMap(({ service, from, to }) => (from === to ? [] : [plan.count(service.name, from, to)]));

  /** The longest that one of them may take to end; null: no process lives. */
  function graceOf(instances: readonly Instance[]): string | null {
    const graces = instances.filter(isLiving).map(({ stop }) => stop.graceMs);
    return graces.length === 0 ? null : formatDuration(Math.max(...graces));
  }

  function changed(notes: readonly string[]): Changed {
    parts.wake();
    return { changed: notes.length > 0, notes, rollout: null };
  }

  return {
    async scale(wanted, text) {
      gate.refuseWhileBusy();
      const asked = numbers(wanted);
      for (const { service, to } of asked) wishes.scale(service, to);
      const written = countNotes(asked, record);
      if (written.length > 0) journal.write({ type: "service.scaled", message: written.join(" ") });
      return changed(countNotes(asked, text));
    },
    async planScale(wanted, text) {
      const asked = numbers(wanted);
      const notes = countNotes(asked, text);
      const running = asked.filter(({ service }) => !wishes.isStopped(service));
      const told = parts.planner({ wanted: new Map(running.map(({ service, to }) => [service.name, to])) });
      return describePlan(told, notes.length > 0, parts.connectionLimit(), notes, text);
    },
    async start(name, text) {
      gate.refuseWhileBusy();
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
      throw unknown(name);
    },
    async stop(name, text) {
      gate.refuseWhileBusy();
      const service = services().find((one) => one.name === name);
      if (service !== undefined) {
        if (wishes.isStopped(service)) return changed([]);
        wishes.setStopped(service, true);
        journal.write({ type: "service.stopped", service: name, message: record.recorded.stopped(name) });
        const run = parts.timed.all().find((one) => one.service === name);
        const grace = run === undefined ? null : formatDuration(run.stop.graceMs);
        return changed([text.done.stopped(name, grace ?? graceOf(book.all().filter((one) => one.service === name)))]);
      }
      const graceMs = parts.timed.end(name);
      if (graceMs !== null) return changed([text.recorded.schedule.ending(name, formatDuration(graceMs))]);
      const instance = book.get(name);
      const owner = instance === null ? undefined : services().find((one) => one.name === instance.service);
      if (instance === null || owner === undefined) throw unknown(name);
      if (instance.wanted === "down") return changed([]);
      const grace = graceOf([instance]);
      wishes.stopInstance(owner, name);
      if (isLiving(instance)) parts.instances.leave(name, record.recorded.cause.byOperator);
      else parts.instances.discard(name);
      return changed([text.done.stopped(name, grace)]);
    },
    async kill(name, text) {
      const instance = book.services().find(({ id }) => id === name);
      if (instance === undefined || !isLiving(instance)) throw unknownInstance(name, instanceIds());
      const inFlight = parts.proxies.counters().upstreams.find(({ id }) => id === name)?.inFlight ?? 0;
      parts.instances.kill(name, record.recorded.cause.killedByOperator);
      parts.wake();
      return { instance: name, notes: [text.done.killed(name), text.done.cut(inFlight)] };
    },
  };
}
