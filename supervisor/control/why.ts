// One screen that answers "why is it as it is" for a service or an instance.
// Invariant: names of changed environment variables are told, values never.

import type { AppConfig, Config } from "../../config/config.ts";
import type { Why, WhyInstance, WorkerStatus } from "../../config/control-api.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import { awaitedOf } from "../core/decide.ts";
import { type Instance, PROXY } from "../core/instance.ts";
import { isCrashLooping } from "../core/restart-policy.ts";
import type { Text } from "../core/text/text.ts";
import type { ServiceFacts } from "../core/world.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { HealthWatch } from "../instances/health.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { InstanceLogs, MarkedProcess, ProcessTable } from "../ports.ts";
import type { CertificateKeeper } from "../proxies/certificates/keeper.ts";
import type { Definitions } from "../state/definitions.ts";
import { unknownInstance } from "./names.ts";

export interface WhyParts {
  readonly clock: Clock;
  readonly book: InstanceBook;
  readonly health: HealthWatch;
  readonly table: ProcessTable;
  readonly logs: InstanceLogs;
  readonly definitions: Pick<Definitions, "notInForce">;
  readonly certificates: Pick<CertificateKeeper, "renewal">;
  readonly timed: Pick<TimedRuns, "status">;
  readonly mark: string;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  readonly workers: () => readonly WorkerStatus[] | null;
  /** Services as they are decided on. */
  readonly facts: () => readonly ServiceFacts[];
  /** Hashes of the environment the instance would get now. */
  readonly envNow: (instance: Instance) => Readonly<Record<string, string>> | null;
}

const LINES = 20;

/** Its summary in the language of `text`; causes are as they were written down. Throws `instance.unknown`. */
export async function explain(parts: WhyParts, target: string, services: readonly string[], text: Text): Promise<Why> {
  const isService = services.includes(target);
  const found = parts.book.all().filter((one) => (isService ? one.service === target : one.id === target));
  if (!isService && found.length === 0) {
    throw unknownInstance(target, [...services, ...parts.book.all().map(({ id }) => id)]);
  }
  // /proc is read once, however many instances there are.
  const marked = Map.groupBy(parts.table.marked(parts.mark), ({ instance }) => instance);
  const led = found.flatMap(({ id, identity }) => (identity === null ? [] : [{ id, identity }]));
  const groups = parts.table.groups(led.map(({ identity }) => identity));
  const groupOf = new Map(led.map(({ id }, index) => [id, groups[index] ?? []]));
  const instances = await Promise.all(
    found.map((one) => explainOne(parts, one, marked.get(one.id) ?? [], groupOf.get(one.id) ?? [])),
  );
  return {
    target,
    kind: isService ? "service" : "instance",
    summary: summarize(parts, target, isService, found, text),
    instances,
  };
}

async function explainOne(
  parts: WhyParts,
  instance: Instance,
  marked: readonly MarkedProcess[],
  group: readonly { readonly pid: number; readonly command: string }[],
): Promise<WhyInstance> {
  const { clock } = parts;
  const worker = parts.workers()?.find(({ id }) => id === instance.id);
  const pid = instance.state === "backoff" ? null : (instance.identity?.pid ?? null);
  const left = new Map(marked.filter((one) => one.identity.pid !== pid).map((one) => [one.identity.pid, one.command]));
  for (const member of group) if (member.pid !== pid) left.set(member.pid, member.command);
  const now = parts.envNow(instance);
  const names = new Set([...Object.keys(instance.envHashes), ...Object.keys(now ?? {})]);
  const probe = parts.health.last(instance.id);
  const deadline = instance.state === "backoff" ? instance.deadline : null;
  const restMs = deadline === null ? 0 : Math.max(0, deadline.atMs - clock.monotonicMs());
  return {
    id: instance.id,
    service: instance.service,
    state: instance.state,
    wanted: instance.wanted,
    pid,
    startedAt: isoTime(instance.startedAt),
    restarts: instance.restarts,
    lastExit: instance.lastExit,
    lastProbe: probe && { at: probe.at, ok: probe.ok, status: probe.status, body: probe.body, error: probe.error },
    heartbeatAgeMs: worker?.heartbeatAgeMs ?? null,
    backoff:
      deadline === null
        ? null
        : { attempt: instance.attempt, delayMs: Math.round(restMs), nextTryAt: isoTime(clock.now() + restMs) },
    leftOver: [...left].map(([one, command]) => ({ pid: one, command })),
    changedEnv: now === null ? [] : [...names].filter((name) => instance.envHashes[name] !== now[name]).sort(),
    log: await parts.logs.tail(instance.id, LINES),
  };
}

function summarize(
  parts: WhyParts,
  target: string,
  isService: boolean,
  found: readonly Instance[],
  text: Text,
): string[] {
  const { why } = text;
  const unread = parts.definitions.notInForce();
  const head = unread === null ? [] : [unread(text)];
  const order = found.some(({ service }) => service === PROXY) ? parts.certificates.renewal() : null;
  if (order !== null) head.push(why.order(order.domains.join(", "), order.nextAt, order.failures, order.why));
  const lines = found.map((one) =>
    why.instance(one.id, one.state, one.leaving !== null, one.cause ?? one.replaceCause),
  );
  if (!isService) return [...head, ...lines];
  if (found.some((one) => isCrashLooping(one, parts.clock.monotonicMs()))) {
    lines.unshift(why.crashLooping(target));
  }
  const service = parts.config().services.find(({ name }) => name === target);
  if (service?.schedule !== undefined) {
    const { cron, zone } = service.schedule;
    const last = parts.timed.status(service)?.last ?? null;
    return [...head, why.timed(target, cron, zone), ...(last === null ? [] : [why.lastRun(last.id, last.how)])];
  }
  const awaited = awaitedOf(service ?? {}, parts.facts(), parts.book.all());
  if (awaited.length > 0) lines.unshift(why.awaits(target, awaited.join(", ")));
  return [...head, ...(lines.length === 0 ? [why.noInstance(target)] : lines)];
}
