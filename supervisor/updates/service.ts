// Updates put together: the runner with its steps, and the requests that begin them.
// Invariant: what it touches of the rest of owld goes through the course on record, the configuration in force and the
// loop's targets; never processes.

import type { Config } from "../../config/config.ts";
import type { Status, WorkerStatus } from "../../config/control-api.ts";
import type { Operations } from "../control/operations.ts";
import { restartTargets } from "../core/rollout-plan.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import { createInstanceLogs } from "../process/log-file.ts";
import { createReleaseHistory } from "../release/current.ts";
import { readManifest } from "../release/verify.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Foundation } from "../state/foundation.ts";
import { createAssessment } from "./assessment.ts";
import { createAttendance } from "./attendance.ts";
import { createCopyKeeper } from "./copies.ts";
import { createCourseEnds } from "./ends.ts";
import { createReleaseJudge } from "./judge.ts";
import { createUpdates, type Updates } from "./request.ts";
import { createUpdateRunner } from "./runner.ts";
import { createUpdateSteps } from "./steps.ts";

interface UpdateServiceParts {
  readonly ground: Foundation;
  readonly operations: Operations;
  readonly rollouts: RolloutRunner;
  readonly database: DatabaseService;
  readonly proxies: Pick<ProxySet, "processes" | "renew">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly status: () => Promise<Status>;
  readonly config: () => Config;
  readonly workers: () => readonly WorkerStatus[] | null;
  readonly connectionLimit: () => number | null;
  /** The course moved: what serves, and who rests, may be another now. */
  readonly changed: () => void;
  readonly reexec: () => void;
}

/** So long a request waits for a database that is still being looked at. */
const DATABASE_MS = 60_000;

interface UpdateService {
  readonly updates: Updates;
  /** To be called once the database is up. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createUpdateService(parts: UpdateServiceParts): UpdateService {
  const { ground, operations, rollouts, database } = parts;
  const { clock, log, record, paths, course, folder } = ground;
  const judge = createReleaseJudge({ ...ground, ...parts });
  const history = createReleaseHistory(ground.store);
  const copies = createCopyKeeper({ ...ground, database, history });
  const ends = createCourseEnds({ ...ground, history, copies, found: course.present(), reexec: parts.reexec });

  function figures() {
    const services = parts.config().services.filter((service) => service.bundled);
    const web = services.find((service) => service.routes.length > 0);
    const starts = services.map((service) => ground.measures.of(service.name).startMs ?? 1_000);
    return {
      workers: services.filter((service) => service.routes.length === 0).reduce((sum, one) => sum + one.replicas, 0),
      graceMs: Math.max(0, ...services.map((service) => service.stop.graceMs)),
      readyMs: Math.max(1_000, ...starts),
      webReplicas: web?.replicas ?? 0,
      confirmMs: parts.config().rollout.updateConfirmMs,
    };
  }

  async function databaseUp(): Promise<void> {
    const untilMs = clock.monotonicMs() + DATABASE_MS;
    while (database.url() === null) {
      if (clock.monotonicMs() > untilMs)
        throw new Refusal("update.database", ({ refused }) => refused.update.noDatabase());
      await clock.sleep(100);
    }
  }

  async function databaseFacts() {
    await databaseUp();
    return await database.updates().facts();
  }

  const assess = createAssessment({ folder, bundled: parts.config().bundled, databaseFacts, figures });
  const runner = createUpdateRunner({
    ...ground,
    course,
    rollouts,
    steps: createUpdateSteps({
      ...ground,
      ...parts,
      planner: operations.planner,
      judge,
      assess,
      ends,
      wanted: ground.wishes.wanted,
      preflight: () => operations.control.preflight(record),
      manifest: (release) => readManifest(release.path),
      database: () => database.updates(),
      tail: createInstanceLogs({ directory: paths.logs, clock, living: () => new Set() }).tail,
    }),
    discard: ends.discard,
    confirmMs: () => parts.config().rollout.updateConfirmMs,
    changed: parts.changed,
    renewSelf(ended) {
      // Killed after `switch`, it was started again on the new release already.
      if (ended.to?.path === folder.running.path) return;
      log.info({ from: ended.from.version, to: ended.to?.version }, "owld starts again on the new release");
      parts.reexec();
    },
  });
  const updates = createUpdates({
    clock,
    runner,
    folder,
    assess,
    bundled: parts.config().bundled,
    managed: parts.config().database === null,
    preflight: judge,
    newerJobs: (formats) => database.updates().newerJobs(formats),
    refuse: operations.refuse,
    history: history.all,
    databaseFacts,
    async writesSince(copy) {
      await databaseUp();
      return await database.updates().writesSince(copy);
    },
    figures,
    replacement({ workers, web }) {
      const { services, rollout } = parts.config();
      const names = services.flatMap((one) =>
        one.bundled && (one.routes.length > 0 ? web : workers) ? [one.name] : [],
      );
      const targets = restartTargets(ground.book.services(), names, names, null, true);
      return operations.planner({ targets, confirmMs: rollout.updateConfirmMs });
    },
    connectionLimit: parts.connectionLimit,
  });
  const { restart } = operations.control;
  const attendance = createAttendance({ ...ground, ...parts, runner, updates, assess, restart });
  return { updates, ...attendance };
}
