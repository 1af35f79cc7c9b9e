// Does a planned fault to the product, opens the window of what it excuses, undoes it, and closes the window when its
// effect is over as seen from outside. Invariant: only processes of the run's own home are ever signalled.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OwlEvent } from "../../../config/control-api.ts";
import { systemClock } from "../../../config/system-time.ts";
import { createCaller } from "../caller.ts";
import type { Disturbances } from "../disturbances.ts";
import type { JumpingClock } from "../jumping-clock.ts";
import { flood, makeMember } from "../load/floods.ts";
import { type FaultName, isWithin, type PlannedFault } from "../plan/schedule.ts";
import { backendsOf, databasePids, type Found, isAlive, postmasterPid, processesOf, signalPid } from "../processes.ts";
import type { Product } from "../product.ts";
import type { SlowDisk } from "../slow-disk.ts";
import type { Timeline } from "../timeline.ts";
import { asAdministrator, proxyAnswers, proxyServes, readyInstances } from "./targets.ts";
import { createWithin } from "./within.ts";

export interface Injector {
  /** Resolves when the fault is undone and its effect is over. */
  inject(fault: PlannedFault): Promise<void>;
  /** Faults that met something to hit. */
  readonly done: ReadonlyMap<FaultName, number>;
}

export interface InjectorDeps {
  readonly product: Product;
  readonly disturbances: Disturbances;
  readonly timeline: Timeline;
  /** The state directory is a small file system of its own. */
  readonly smallState: boolean;
  readonly graceMs: number;
  /** Times of the product are judged too. */
  readonly strict: boolean;
  readonly slowDisk: Pick<SlowDisk, "mounted" | "slow" | "undo">;
  readonly clock: Pick<JumpingClock, "works" | "jumpTo">;
}

/** Longest wait for an effect to be over; past it the last check (steady within 60 s) speaks. */
const RECOVERY_MS = 60_000;
const EXIT_SLACK_MS = 10_000;
/** The guide's bound: a lost LISTEN session is back within 35 s. */
const LISTEN_AGAIN_MS = 35_000;

export function createInjector(deps: InjectorDeps): Injector {
  const { product, disturbances, timeline } = deps;
  const { home, port } = product;
  const done = new Map<FaultName, number>();

  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = systemClock.now() + RECOVERY_MS; systemClock.now() < end; await systemClock.sleep(150))
      if (await holds()) return;
  }

  const choose = (fault: PlannedFault, kind: Found["kind"]): Found | null => {
    const living = processesOf(home).filter((one) => one.kind === kind);
    return living[Math.floor(fault.choice * living.length)] ?? null;
  };
  const webReady = async () => (await readyInstances(home, "web", 2_000)).length;
  const databaseAnswers = () =>
    asAdministrator(home, "SELECT 1").then(
      () => true,
      () => false,
    );

  function noted(fault: PlannedFault, target: object): void {
    done.set(fault.name, (done.get(fault.name) ?? 0) + 1);
    timeline.note(`fault ${fault.n} ${fault.name}`, {
      ...target,
      ...(fault.holdMs > 0 ? { holdMs: fault.holdMs } : {}),
    });
  }

  /** No other instance serves, or this one is all that owld has in its table (a successor that is up may not be in it). */
  async function isLastWeb(target: Found): Promise<boolean> {
    const isOther = (name: string) => name !== target.instance;
    const status = await product.status();
    const routed = status?.services
      .find(({ name }) => name === "web")
      ?.instances.filter(({ state }) => state === "ready");
    const others = (await readyInstances(home, "web", 2_000)).filter(isOther);
    return others.length === 0 || routed?.some(({ id }) => others.includes(id)) === false;
  }

  /** `act` ends `target`. When it is the last that serves, nobody does until a successor is there. */
  async function loseWeb(fault: PlannedFault, target: Found, act: () => void): Promise<void> {
    const isLast = await isLastWeb(target);
    const close = disturbances.open(["inFlight", "replicas"], fault.name);
    const none = isLast ? disturbances.open(["requests"], `${fault.name}, the last one that serves`) : null;
    act();
    if (none !== null)
      await until(async () => !isAlive(target.pid) && (await proxyServes(port))).then(() => none(1_000));
    await until(async () => !isAlive(target.pid) && (await webReady()) >= 2);
    close(1_000);
  }

  async function loseWorker(fault: PlannedFault, act: () => Promise<void> | void): Promise<void> {
    const close = disturbances.open(["worker", "replicas"], fault.name);
    await act();
    await until(async () => (await readyInstances(home, "worker", 2_000)).length >= 2);
    close(3_000);
  }

  /** Asked to stop, a worker ends within its grace, whatever it has at work: owld sees to that when it does not. */
  async function stopWorker(pid: number, againAfterMs: number): Promise<void> {
    const from = systemClock.now();
    signalPid(pid, "SIGTERM");
    // Asked a second time, as impatient people do.
    await systemClock.sleep(againAfterMs);
    if (isAlive(pid)) signalPid(pid, "SIGTERM");
    await until(() => !isAlive(pid));
    const tookMs = systemClock.now() - from;
    const hindered = disturbances.touching(["supervisor", "database"], from - 1_000, systemClock.now());
    if (deps.strict && tookMs > deps.graceMs + EXIT_SLACK_MS && hindered.length === 0)
      timeline.violation("a worker that was asked to stop stayed longer than its grace", { pid, tookMs });
  }

  async function freeze(fault: PlannedFault, pid: number): Promise<void> {
    signalPid(pid, "SIGSTOP");
    await systemClock.sleep(fault.holdMs);
    if (isAlive(pid)) signalPid(pid, "SIGCONT");
    timeline.note(`fault ${fault.n} ${fault.name} over`, { pid });
  }

  async function hurtDatabase(fault: PlannedFault, act: () => Promise<void> | void): Promise<void> {
    const close = disturbances.open(["database", "worker", "replicas"], fault.name);
    await act();
    await systemClock.sleep(300);
    await until(async () => (await databaseAnswers()) && (await webReady()) > 0);
    timeline.note(`fault ${fault.n} ${fault.name}: the database answers`);
    close(8_000);
  }

  /** The backends of a choice are ended one at a time by the server itself. */
  async function terminate(fault: PlannedFault, listening: boolean): Promise<void> {
    const which = listening ? "query ILIKE 'LISTEN%'" : "query NOT ILIKE 'LISTEN%'";
    const rows = await asAdministrator<{ pid: number; name: string }>(
      home,
      `SELECT pid, application_name AS name FROM pg_stat_activity
        WHERE application_name LIKE 'owl/%' AND ${which} ORDER BY pid`,
    ).catch(() => []);
    const target = rows[Math.floor(fault.choice * rows.length)];
    if (target === undefined) return;
    const close = disturbances.open(["inFlight", "worker"], fault.name);
    await asAdministrator(home, `SELECT pg_terminate_backend(${target.pid})`).catch(() => undefined);
    noted(fault, target);
    close(3_000);
    if (listening && deps.strict) await listensAgain(target);
  }

  /** The same process has another LISTEN session, or is gone, or the database was hurt meanwhile. */
  async function listensAgain(lost: { readonly pid: number; readonly name: string }): Promise<void> {
    const from = systemClock.now();
    const living = () => processesOf(home).some((one) => `owl/${one.instance}` === lost.name && one.state !== "T");
    const back = () =>
      asAdministrator(
        home,
        `SELECT 1 FROM pg_stat_activity WHERE application_name = '${lost.name}' AND query ILIKE 'LISTEN%' AND pid <> ${lost.pid}`,
      ).then(
        (rows) => rows.length > 0,
        () => false,
      );
    while (systemClock.now() - from < LISTEN_AGAIN_MS) {
      if (!living() || (await back())) return;
      await systemClock.sleep(500);
    }
    if (disturbances.touching(["database", "worker", "requests"], from, systemClock.now()).length === 0)
      timeline.violation("a LISTEN session was not back within 35 s", { lost });
  }

  async function killSupervisor(fault: PlannedFault, target: Found): Promise<void> {
    const close = disturbances.open(["supervisor", "replicas"], fault.name);
    signalPid(target.pid, "SIGKILL");
    await systemClock.sleep(200);
    await until(async () => (await product.status()) !== null);
    close(2_000);
  }

  async function killProxy(fault: PlannedFault, target: Found): Promise<void> {
    const close = disturbances.open(["inFlight"], fault.name);
    signalPid(target.pid, "SIGKILL");
    // Nobody starts another one while the supervisor is away; until then there is no proxy at all.
    const now = systemClock.now();
    const alone = disturbances.touching(["supervisor"], now - 1_000, now).length > 0;
    const gone = alone ? disturbances.open(["requests"], `${fault.name} without a supervisor`) : null;
    await until(() => (gone === null ? proxyAnswers(port) : proxyServes(port)));
    gone?.(1_000);
    close(500);
  }

  async function fillDisk(fault: PlannedFault): Promise<void> {
    if (!deps.smallState) return;
    const ballast = join(home, "state/ballast");
    noted(fault, {});
    const close = disturbances.open(["supervisor"], fault.name);
    await writeFile(ballast, Buffer.alloc(64 * 2 ** 20)).catch(() => undefined);
    await systemClock.sleep(fault.holdMs);
    await rm(ballast, { force: true });
    timeline.note(`fault ${fault.n} ${fault.name} over`);
    close(2_000);
  }

  /** Each commit of the database waits; nothing may fail of that but what runs into its own time limit. */
  async function slowDown(fault: PlannedFault): Promise<void> {
    if (!deps.slowDisk.mounted) return;
    noted(fault, {});
    const close = disturbances.open(["database", "worker", "replicas"], fault.name);
    await deps.slowDisk.slow(databasePids(home));
    await systemClock.sleep(fault.holdMs);
    await deps.slowDisk.undo();
    timeline.note(`fault ${fault.n} ${fault.name} over`);
    close(5_000);
  }

  /** owld's wall clock goes off by up to an hour, either way; it excuses nothing. */
  async function jumpClock(fault: PlannedFault): Promise<void> {
    if (!deps.clock.works) return;
    const offsetS = Math.round((2 * fault.choice - 1) * 3_600);
    noted(fault, { offsetS });
    await deps.clock.jumpTo(offsetS);
  }

  /** A member floods. Everybody else's work goes on as ever, and nobody is taken for hung for being busy. */
  async function makeDisorder(fault: PlannedFault): Promise<void> {
    const admin = createCaller(port);
    if (!(await admin.signIn())) return admin.close();
    const member = await makeMember(admin, port, "mina").finally(() => admin.close());
    noted(fault, {});
    const from = systemClock.now();
    const ending = new AbortController();
    const flooding = flood(member, join(home, "recordings/archive"), ending.signal);
    await systemClock.sleep(fault.holdMs);
    ending.abort();
    timeline.note(`fault ${fault.n} disorder over`, await flooding);
    member.close();
    const others = disturbances.touching(["worker", "database", "supervisor", "requests"], from, systemClock.now());
    if (others.length > 0) return;
    const told = (await product.ctl("events", "-n", "1000", "--json")).stdout.split("\n").filter((line) => line !== "");
    for (const event of told.map((line) => JSON.parse(line) as OwlEvent))
      if (event.type === "instance.hung" && Date.parse(event.at) >= from)
        timeline.violation("an instance was taken for hung while a member flooded", { ...event });
  }

  const within = createWithin({ ...deps, home, until, noted, loseWorker, isLastWeb });

  async function injectProcess(fault: PlannedFault, kind: Found["kind"]): Promise<void> {
    const target = choose(fault, kind);
    if (target === null) return;
    noted(fault, { pid: target.pid, instance: target.instance });
    const { pid } = target;
    switch (fault.name) {
      case "kill-web":
        return loseWeb(fault, target, () => void signalPid(pid, "SIGKILL"));
      case "term-web":
        // Nobody took it out of the table first: what it had accepted it still answers, new requests find the other one.
        return loseWeb(fault, target, () => void signalPid(pid, "SIGTERM"));
      case "kill-worker":
        return loseWorker(fault, () => void signalPid(pid, "SIGKILL"));
      case "term-worker":
        return loseWorker(fault, () => stopWorker(pid, fault.choice * 3_000));
      case "term-kill-worker":
        return loseWorker(fault, async () => {
          signalPid(pid, "SIGTERM");
          await systemClock.sleep(fault.holdMs);
          signalPid(pid, "SIGKILL");
        });
      case "freeze-worker":
        return loseWorker(fault, () => freeze(fault, pid));
      case "freeze-web": {
        const close = disturbances.open(["requests", "replicas"], fault.name);
        await freeze(fault, pid);
        await until(async () => (await webReady()) >= 2);
        return close(3_000);
      }
      case "kill-supervisor":
        return killSupervisor(fault, target);
      case "freeze-supervisor": {
        const close = disturbances.open(["supervisor", "replicas"], fault.name);
        await freeze(fault, pid);
        return close(3_000);
      }
      case "kill-proxy":
        return killProxy(fault, target);
      case "freeze-proxy": {
        const close = disturbances.open(["requests"], fault.name);
        await freeze(fault, pid);
        return close(3_000);
      }
      default:
        return;
    }
  }

  async function injectDatabase(fault: PlannedFault): Promise<void> {
    const postmaster = postmasterPid(home);
    const backends = backendsOf(home);
    const backend = backends[Math.floor(fault.choice * backends.length)];
    switch (fault.name) {
      case "kill-backend":
        if (backend === undefined) return;
        noted(fault, { pid: backend });
        return hurtDatabase(fault, () => void signalPid(backend, "SIGKILL"));
      case "freeze-backend":
        if (backend === undefined) return;
        noted(fault, { pid: backend });
        return hurtDatabase(fault, () => freeze(fault, backend));
      case "postgres-immediate":
      case "kill-postgres":
        if (postmaster === null || !isAlive(postmaster)) return;
        noted(fault, { pid: postmaster });
        return hurtDatabase(
          fault,
          () => void signalPid(postmaster, fault.name === "kill-postgres" ? "SIGKILL" : "SIGQUIT"),
        );
      default:
        return terminate(fault, fault.name === "terminate-listen");
    }
  }

  return {
    done,
    async inject(fault) {
      const kind = /-(web|worker|supervisor|proxy)$/.exec(fault.name)?.[1] as Found["kind"] | undefined;
      if (fault.name === "disk-full") await fillDisk(fault);
      else if (fault.name === "slow-disk") await slowDown(fault);
      else if (fault.name === "clock-jump") await jumpClock(fault);
      else if (fault.name === "disorder") await makeDisorder(fault);
      else if (isWithin(fault.name) && (kind === "web" || kind === "worker")) await within.inject(fault, kind);
      else if (kind !== undefined) await injectProcess(fault, kind);
      else await injectDatabase(fault);
    },
  };
}
