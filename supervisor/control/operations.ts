// What operators ask of the supervisor, put together; and what others need of it: the plan, the gate.

import type { AppConfig, Config } from "../../config/config.ts";
import type { Running } from "../../config/running.ts";
import type { HealthWatch } from "../instances/health.ts";
import { envHashes } from "../instances/launch.ts";
import type { Instances } from "../instances/life.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { Surroundings } from "../instances/surroundings.ts";
import type { Supervisor } from "../loop.ts";
import { createNotices, type Notices } from "../observe/notices/watch.ts";
import type { InstanceLogs, Preflight, ProxySet } from "../ports.ts";
import type { Backups } from "../postgres/backups/service.ts";
import { createOneOffs } from "../process/one-off.ts";
import type { CertificateKeeper } from "../proxies/certificates/keeper.ts";
import { createDeploys, type Deploys } from "../release/own/deploys.ts";
import { createOwnReleases } from "../release/own/folder.ts";
import { createAftermath } from "../rollouts/aftermath.ts";
import { createPlanner, type Planner } from "../rollouts/planner.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Definitions } from "../state/definitions.ts";
import type { Foundation } from "../state/foundation.ts";
import { createClearance } from "./clearance.ts";
import type { Control } from "./control.ts";
import { createGate } from "./gate.ts";
import { createInquiries } from "./inquiries.ts";
import { createReloadControl } from "./reload.ts";
import { createRolloutControl } from "./rollouts.ts";
import { createRunControl } from "./run.ts";
import { createServiceControl } from "./services.ts";

interface OperationParts {
  readonly ground: Foundation;
  readonly supervisor: Supervisor;
  readonly config: () => Config;
  readonly app: (config: Config) => AppConfig | null;
  readonly instances: Instances;
  readonly rollouts: RolloutRunner;
  readonly definitions: Definitions;
  readonly timed: TimedRuns;
  readonly certificates: Pick<CertificateKeeper, "renewal">;
  readonly proxies: Pick<ProxySet, "counters" | "settled">;
  readonly surroundings: Surroundings;
  readonly health: HealthWatch;
  readonly logs: InstanceLogs;
  readonly preflight: Preflight;
  readonly backups: Pick<Backups, "status">;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Elsewhere =
  | "status"
  | "reexec"
  | "backUp"
  | "stageRelease"
  | "update"
  | "planUpdate"
  | "rollback"
  | "planRollback";

export interface Operations {
  readonly control: Omit<Control, Elsewhere>;
  readonly planner: Planner;
  readonly deploys: Pick<Deploys, "start" | "stop">;
  readonly notices: Pick<Notices, "start" | "stop">;
  readonly aftermath: Running;
  /** Throws while another rollout runs, owld stops or nothing can be put on record. */
  refuse(): void;
}

export function createOperations(parts: OperationParts): Operations {
  const { ground, supervisor, preflight } = parts;
  const { connectionLimit, workers } = parts.surroundings;
  const { wake, isStopping, world } = supervisor;
  const planner = createPlanner({ ...ground, world, config: parts.config });
  const gate = createGate({ ...ground, ...parts, connectionLimit, isStopping });
  const clearance = createClearance(preflight, ground.journal, ground.record);
  const common = { ...ground, ...parts, gate, planner, clearance, connectionLimit, wake, isStopping };
  const rollouts = createRolloutControl(common);
  const oneOff = createOneOffs(ground);
  const deploys = createDeploys({
    ...common,
    releases: createOwnReleases(ground.paths.ownReleases, () => parts.config().deploy.sizeBytes),
    oneOff,
  });
  const notices = createNotices(parts);
  const aftermath = createAftermath({
    ...common,
    begin: (targets, why, config) => rollouts.begin(targets, [why], { config, kind: "rollback" }),
  });
  return {
    planner,
    deploys,
    notices,
    aftermath,
    refuse() {
      gate.refuseWhileBusy();
      gate.refuseWithoutDisk();
    },
    control: {
      ...rollouts,
      ...deploys.control,
      ...createRunControl({ ...common, oneOff, release: () => ground.folder.running.version }),
      tryNotices: notices.test,
      ...createServiceControl(common),
      ...createReloadControl({ ...common, rollouts }),
      ...createInquiries({
        ...common,
        workers,
        facts: () => world().services,
        envNow(instance) {
          const env = parts.definitions.envOf(instance);
          return env === null ? null : envHashes(env);
        },
      }),
    },
  };
}
