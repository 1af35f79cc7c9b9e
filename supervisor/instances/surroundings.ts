// What is read from outside every few seconds: memory and CPU, connections, workers' heartbeats; and what follows from
// it: an instance over its memory limit, a worker that hangs. Nothing is ended here, only marked to be replaced.
// Invariant: without an answer (no database, no sample) nobody looks hung or too big.

import type { Config } from "../../config/config.ts";
import type { ConnectionsStatus, WorkerStatus } from "../../config/control-api.ts";
import { createLoop, type Running } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import { formatSize } from "../../config/units.ts";
import { assessBudget, overDeclared } from "../core/connection-budget.ts";
import { type Instance, isLiving, isServing } from "../core/instance.ts";
import { afterCrash } from "../core/restart-policy.ts";
import type { Sentence, Text } from "../core/text/text.ts";
import type { Measures } from "../observe/measures.ts";
import type { InstanceLogs, Metastore, Usage, UsageSampler } from "../ports.ts";
import type { ControlGroups } from "../process/control-groups.ts";
import type { Definitions } from "../state/definitions.ts";
import type { InstanceBook } from "./book.ts";
import { createLimits } from "./limits.ts";
import type { TimedRuns } from "./schedules/timed-runs.ts";
import type { ServiceWishes } from "./wishes.ts";

/** How long `refresh` waits for a database that answers, and for one that does not. */
const ANSWERING_MS = 1_000;
const SILENT_MS = 100;
const SAMPLE_MS = 5_000;
/** Whoever looks at the status sees connections and workers at most so old. */
const FRESH_MS = 1_000;
/** owld judges no heartbeat before the database has answered for so long without a break. */
const TRUST_MS = 30_000;
/** Kept free of what the host says is available. */
const MEMORY_SHARE = 0.9;

interface SurroundingsParts {
  readonly clock: Clock;
  readonly book: InstanceBook;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly measures: Measures;
  readonly wishes: ServiceWishes;
  readonly groups: ControlGroups;
  readonly definitions: Pick<Definitions, "of" | "serviceOf">;
  readonly timed: Pick<TimedRuns, "all">;
  readonly sampler: UsageSampler;
  readonly logs: Pick<InstanceLogs, "tail" | "rotate">;
  readonly metastore: () => Metastore | null;
  readonly config: () => Config;
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
}

export interface Surroundings extends Running {
  runOnce(): Promise<void>;
  /** Reads connections and workers again unless that was done within the last second. Never rejects. */
  refresh(): Promise<void>;
  usage(): ReadonlyMap<number, Usage>;
  connections(): ConnectionsStatus | null;
  workers(): readonly WorkerStatus[] | null;
  /** Has the kernel bound whom it is to bound. Cheap where nobody has limits: to be called at every turn. */
  bound(): void;
  /** Instances that opened more connections than they declared; limits that do not hold. */
  warnings(): readonly Sentence[];
  connectionLimit(): number | null;
  freeMemoryBytes(): number | null;
}

export function createSurroundings(parts: SurroundingsParts): Surroundings {
  const { clock, book } = parts;
  const { cause: causes, instance: say } = parts.record.recorded;
  const limits = createLimits(parts);
  let usage: ReadonlyMap<number, Usage> = new Map();
  let freeBytes: number | null = null;
  let reading: Awaited<ReturnType<Metastore["connections"]>> = null;
  let workers: readonly WorkerStatus[] | null = null;
  let peak = 0;
  let readAtMs: number | null = null;
  let reread: Promise<void> | null = null;

  /** It is replaced with the pauses and the flag of one that crashes: its place may only look well between two. */
  function setTrouble(instance: Instance, cause: string): void {
    const { delayMs, place } = afterCrash(instance, clock.monotonicMs());
    const { id, service } = instance;
    book.set(id, { replaceCause: cause, replaceFromMs: clock.monotonicMs() + delayMs, ...place });
    if (!place.looping || instance.looping) return;
    book.note(instance, "service.crashLooping", say.crashLooping(service, say.replaced(id, cause)));
  }

  async function sampleUsage(): Promise<void> {
    const living = book
      .all()
      .flatMap((one) => (one.identity === null || one.state === "backoff" ? [] : [one.identity]));
    usage = await parts.sampler.sample(living);
    freeBytes = (await parts.sampler.hostMemory()).availableBytes * MEMORY_SHARE;
    for (const instance of book.all()) {
      const rssBytes = instance.identity === null ? undefined : usage.get(instance.identity.pid)?.rssBytes;
      if (rssBytes === undefined) continue;
      parts.measures.noteMemory(instance.service, rssBytes);
      // By the definition it lives by: a limit that is on trial itself counts already.
      const limit = parts.definitions.serviceOf(instance)?.memoryLimitBytes ?? null;
      if (limit === null || rssBytes <= limit || !isServing(instance) || instance.replaceCause !== null) continue;
      const cause = causes.memory(formatSize(rssBytes), formatSize(limit));
      setTrouble(instance, cause);
      book.note(instance, "instance.overMemory", say.replaced(instance.id, cause));
    }
  }

  async function readDatabase(): Promise<void> {
    const metastore = parts.metastore();
    if (metastore === null) return;
    const living = book.services().filter(isLiving);
    const ids = living.map(({ id }) => id);
    [reading, workers] = await Promise.all([metastore.connections(), metastore.workers(ids)]);
    readAtMs = clock.monotonicMs();
    if (reading !== null) peak = Math.max(peak, reading.open);
    const since = metastore.answeringSince();
    if (workers === null || since === null || clock.monotonicMs() - since < TRUST_MS) return;
    for (const worker of workers) {
      const instance = book.get(worker.id);
      // One that hangs soon fails its health checks too: it is judged by what it has been, not by its state.
      const wasReady = instance !== null && isLiving(instance) && instance.readyMs !== null;
      if (!wasReady || instance.leaving !== null || instance.replaceCause !== null) continue;
      if (worker.heartbeatAgeMs <= parts.definitions.of(instance).heartbeat.stalledAfterMs) continue;
      const cause = causes.silent(Math.round(worker.heartbeatAgeMs / 1_000));
      setTrouble(instance, cause);
      const lines = await parts.logs.tail(worker.id, 20);
      book.note(instance, "instance.hung", say.hung(worker.id, cause), { lines });
    }
  }

  async function runOnce(): Promise<void> {
    const results = await Promise.allSettled([sampleUsage(), readDatabase(), parts.logs.rotate()]);
    for (const result of results) if (result.status === "rejected") parts.failed(result.reason);
    parts.changed();
  }

  const loop = createLoop({ clock, everyMs: SAMPLE_MS, atOnce: true, runOnce, failed: parts.failed });

  return {
    ...loop,
    runOnce,
    refresh() {
      if (readAtMs !== null && clock.monotonicMs() - readAtMs < FRESH_MS) return Promise.resolve();
      reread ??= readDatabase()
        .catch(parts.failed)
        .finally(() => {
          reread = null;
        });
      // A database that answers is worth a moment more than one that does not: else its figures may be 5 s old.
      const answers = (parts.metastore()?.answeringSince() ?? null) !== null;
      return Promise.race([reread, clock.sleep(answers ? ANSWERING_MS : SILENT_MS)]);
    },
    async stop() {
      await loop.stop();
      await reread;
    },
    usage: () => usage,
    connections() {
      const metastore = parts.metastore();
      if (metastore === null) return null;
      const config = parts.config();
      const declared = config.services.map((service) => ({
        name: service.name,
        replicas: parts.wishes.replicas(service),
        connections: service.connections,
      }));
      const { steady, surge, verdict } = assessBudget(declared, reading?.limit ?? null);
      return {
        limit: reading?.limit ?? 0,
        maxConnections: reading?.maxConnections ?? 0,
        steady,
        surge,
        open: reading?.open ?? 0,
        peak,
        verdict,
        ...(reading === null ? {} : { byApplication: reading.byApplication }),
      };
    },
    workers: () => (parts.metastore() === null ? null : (workers ?? [])),
    bound: limits.sync,
    warnings: () => [...overDeclared(parts.config(), book.all(), reading?.byApplication ?? {}), ...limits.warnings()],
    connectionLimit: () => reading?.limit ?? null,
    freeMemoryBytes: () => freeBytes,
  };
}
