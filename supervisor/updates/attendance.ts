// What is attended to once the database is up: an update that was cut goes on, proxies of older code are renewed, the
// pages are told and asked, jobs that wait in a newer format are counted. Stopped in the opposite order.

import type { Config } from "../../config/config.ts";
import type { Rollout, RolloutRequest, Status } from "../../config/control-api.ts";
import { asError } from "../../config/errors.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import { endOldFacts } from "../state/facts.ts";
import type { Foundation } from "../state/foundation.ts";
import type { Assess } from "./assessment.ts";
import { createNewerJobs } from "./newer-jobs.ts";
import { createOffers, type Offers } from "./offers.ts";
import { renewProxies } from "./proxy-renewal.ts";
import type { Updates } from "./request.ts";
import type { UpdateRunner } from "./runner.ts";

interface AttendanceParts {
  readonly ground: Foundation;
  readonly runner: UpdateRunner;
  readonly updates: Updates;
  readonly assess: Assess;
  readonly database: DatabaseService;
  readonly proxies: Pick<ProxySet, "renew">;
  readonly rollouts: RolloutRunner;
  readonly config: () => Config;
  readonly status: () => Promise<Status>;
  readonly restart: (request: RolloutRequest, askedBy: string) => Promise<Rollout>;
}

interface Attendance {
  /** To be called once the database is up. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createAttendance(parts: AttendanceParts): Attendance {
  const { ground, runner, database } = parts;
  const { log, store, folder, course } = ground;
  let offers: Offers | null = null;
  let renewing: Promise<void> = Promise.resolve();

  const newerJobs = createNewerJobs({
    ...ground,
    async count() {
      const formats = (await folder.manifest(course.serving(folder.running)))?.jobKinds ?? null;
      return formats === null || database.url() === null ? null : await database.updates().newerJobs(formats);
    },
    // The metastore's own watch says that it is away.
    failed: (error) => log.debug({ err: asError(error) }, "jobs of a newer format were not counted"),
  });

  return {
    async start() {
      const { services, bundled } = parts.config();
      endOldFacts(
        store,
        services.map(({ name }) => name),
        ground.clock.now(),
      );
      // Space lost, no more: nothing that runs may end for it.
      const left = await folder.sweep().catch((error: unknown) => {
        log.error({ err: asError(error) }, "half-staged releases were not removed");
        return [];
      });
      if (left.length > 0) log.info({ left }, "half-staged releases were removed");
      runner.resume();
      renewing = renewProxies({ ...ground, folder, proxies: parts.proxies }).catch((error: unknown) =>
        log.error({ err: asError(error) }, "the proxies were not replaced"),
      );
      const url = database.url();
      if (url === null || !bundled) return;
      offers = createOffers({ ...ground, ...parts, url });
      await offers.start();
      await newerJobs.start();
    },
    async stop() {
      await newerJobs.stop();
      await runner.stop();
      await renewing;
      await offers?.stop();
    },
  };
}
