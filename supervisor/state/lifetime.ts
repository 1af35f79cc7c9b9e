// How owld begins and ends: what was started is stopped in the opposite order; letting go leaves every process alive.

import type { Config } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";
import type { Running } from "../../config/running.ts";
import type { Control } from "../control/control.ts";
import type { Front } from "../control/front.ts";
import type { Sentence } from "../core/text/text.ts";
import { en } from "../core/text/text.ts";
import { adoptInstances, describeStrays } from "../instances/adoption.ts";
import type { HealthWatch } from "../instances/health.ts";
import type { ExitedLookout } from "../instances/left-over.ts";
import type { Instances } from "../instances/life.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { Surroundings } from "../instances/surroundings.ts";
import type { Supervisor } from "../loop.ts";
import type { Notices } from "../observe/notices/watch.ts";
import type { WearWatch } from "../observe/wear.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import { refuseReplaced } from "../postgres/backups/fence.ts";
import type { Backups } from "../postgres/backups/service.ts";
import { startDatabase } from "../postgres/start.ts";
import type { CertificateKeeper } from "../proxies/certificates/keeper.ts";
import { proxyStop } from "../proxies/set.ts";
import type { Definitions } from "./definitions.ts";
import type { Foundation } from "./foundation.ts";

interface LifetimeParts {
  readonly ground: Foundation;
  readonly config: () => Config;
  readonly supervisor: Supervisor;
  readonly instances: Instances;
  readonly health: HealthWatch;
  readonly lookout: ExitedLookout;
  readonly control: Pick<Control, "reload">;
  readonly surroundings: Surroundings;
  readonly definitions: Pick<Definitions, "stopped">;
  readonly proxies: ProxySet;
  readonly database: DatabaseService;
  readonly backups: Pick<Backups, "settle" | "stop" | "replaced">;
  readonly notices: Pick<Notices, "start" | "stop">;
  readonly aftermath: Pick<Running, "start" | "stop">;
  readonly wear: Pick<WearWatch, "start" | "stop">;
  readonly attendance: { start(): Promise<void>; stop(): Promise<void> };
  readonly deploys: { start(): void; stop(): Promise<void> };
  readonly timed: TimedRuns;
  readonly front: Front;
  readonly certificates: CertificateKeeper;
  /** systemd started us and would do so again: what cannot be had now is tried on. */
  readonly isSupervised: boolean;
}

interface Lifetime {
  /** Resolves when the control socket is up and adoption is done; services come up after that. */
  start(): Promise<void>;
  /** Orderly stop of everything. */
  stop(): Promise<void>;
  killAll(): void;
  /** Everything lives on without this process. */
  letGo(): Promise<void>;
  /** Reads owl.yaml again; never rejects. */
  reload(): Promise<void>;
  /** Rejects when owld cannot go on (the database did not start and nothing runs yet). */
  readonly broken: Promise<never>;
}

export function createLifetime(parts: LifetimeParts): Lifetime {
  const { ground, supervisor, surroundings, database, attendance, proxies, config } = parts;
  const { clock, log, journal, warnings, ends, book, door } = ground;
  const broken = Promise.withResolvers<never>();
  // Heard by main through `broken`; without a listener it would end the process by itself.
  broken.promise.catch(() => undefined);

  /** Nothing of ours may end in its own time. */
  async function endNow(why: "replaced" | "owldStops"): Promise<void> {
    const gone = supervisor.drainAll();
    supervisor.killAll(why);
    await gone;
  }

  // Another Owl runs the jobs.
  void parts.backups.replaced.then((why) => {
    void endNow("replaced");
    broken.reject(why);
  });

  async function bringUpDatabase(): Promise<void> {
    const say = (message: string) => void journal.write({ type: "database.progressed", message });
    const warn = (message: Sentence | null): void => {
      if (message === null) warnings.delete("database");
      else warnings.set("database", message);
      if (message !== null) log.error(message(en));
    };
    const isAnyRunning = () => book.services().length > 0;
    try {
      await startDatabase({ clock, database, say, warn, isAnyRunning }, ends.signal);
      if (config().usesDatabase && !ends.signal.aborted) await surroundings.runOnce();
      if (!ends.signal.aborted) await attendance.start();
      if (!ends.signal.aborted) parts.backups.settle();
      supervisor.wake();
    } catch (error) {
      broken.reject(error);
    }
  }

  /** With nothing to look after, a proxy that cannot start ends owld with its sentence, and nothing else has begun. */
  async function open(): Promise<void> {
    try {
      await proxies.settled();
    } catch (error) {
      await proxies.closeDoor();
      await endNow("owldStops");
      throw error;
    }
    door.opening = false;
    supervisor.wake();
  }

  async function finish(): Promise<void> {
    await parts.health.stop();
    parts.lookout.stop();
    await parts.front.stop();
    ground.spawner.stop();
    ground.store.close();
  }

  let bringingUp: Promise<void> = Promise.resolve();
  return {
    broken: broken.promise,
    async start() {
      const { instances, timed } = parts;
      const adopting = { ...ground, instances, timed, config: config(), proxyStop: proxyStop(config().proxy) };
      const { adopted, strays } = adoptInstances(adopting);
      if (strays.length > 0) warnings.set("strays", describeStrays(strays));
      try {
        await refuseReplaced(ground, config().backup);
      } catch (error) {
        if (adopted > 0) {
          await supervisor.start();
          await endNow("replaced");
        }
        throw error;
      }
      door.opening = adopted === 0 && !parts.isSupervised;
      await supervisor.start();
      if (door.opening) await open();
      parts.deploys.start();
      await parts.timed.start();
      await parts.front.start();
      await surroundings.start();
      await parts.certificates.start();
      await parts.wear.start();
      await parts.notices.start();
      await parts.aftermath.start();
      bringingUp = bringUpDatabase();
    },
    async stop() {
      journal.write({ type: "owld.stopping", message: ground.record.recorded.stopping });
      ends.abort(new OwlError("supervisor.stopping", "owld is stopping."));
      await bringingUp;
      await Promise.all([parts.deploys.stop(), parts.aftermath.stop()]);
      await Promise.all([attendance.stop(), parts.certificates.stop(), parts.notices.stop(), parts.wear.stop()]);
      // The door first: a client that comes now waits in systemd's backlog (or is refused), instead of being let in to
      // a 503. What is in flight ends meanwhile, answered by services that drain.
      await proxies.closeDoor();
      await Promise.all([supervisor.drainAll(), parts.timed.stop()]);
      await supervisor.stop();
      await proxies.letGo();
      await surroundings.stop();
      // After the last answer, so that it is in the backup too.
      await parts.backups.stop();
      await database.stop();
      parts.definitions.stopped();
      await finish();
    },
    killAll() {
      parts.timed.killAll();
      supervisor.killAll("secondSignal");
    },
    async letGo() {
      ends.abort(new OwlError("supervisor.stopping", "owld lets go."));
      await Promise.all([parts.deploys.stop(), parts.aftermath.stop()]);
      await Promise.all([attendance.stop(), parts.certificates.stop(), parts.notices.stop(), parts.wear.stop()]);
      await parts.backups.stop();
      await parts.timed.letGo();
      await supervisor.stop();
      await proxies.letGo();
      database.letGo();
      await finish();
    },
    async reload() {
      await parts.control.reload(ground.record).catch(ground.failed("the configuration was not reloaded"));
    },
  };
}
