// The proxies of one home under the real loop, with no service beside them: several owlds may follow each other.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Config, ProxyConfig } from "../../config/config.ts";
import type { OwlEvent } from "../../config/control-api.ts";
import { homePaths } from "../../config/home.ts";
import { systemClock } from "../../config/system-time.ts";
import type { Clock } from "../../config/time.ts";
import { en } from "../../supervisor/core/text/text.ts";
import { adoptInstances } from "../../supervisor/instances/adoption.ts";
import { createInstanceBook } from "../../supervisor/instances/book.ts";
import { createInstances, type Instances } from "../../supervisor/instances/life.ts";
import { createSupervisor, type Supervisor } from "../../supervisor/loop.ts";
import { createMeasures } from "../../supervisor/observe/measures.ts";
import type { ProxySet } from "../../supervisor/ports.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";
import { createProcReader } from "../../supervisor/process/proc-identity.ts";
import { createSpawner } from "../../supervisor/process/spawn.ts";
import { createProxySet, proxyStop } from "../../supervisor/proxies/set.ts";
import { createJournal } from "../../supervisor/rollouts/journal.ts";
import { createPaperDisk, openMemoryStore } from "./memory-store.ts";
import { proxyConfig } from "./proxy-config.ts";

export interface House extends ProxySet {
  /** Adopts what runs and lets the loop decide; resolves when all proxies serve by `config`, rejects when one cannot. */
  start(): Promise<void>;
  /** From now on. */
  configure(changes: Partial<ProxyConfig>): void;
  /** The orderly end. */
  stop(): Promise<void>;
  /** As after kill -9: nothing here goes on, the proxies do. */
  die(): Promise<void>;
  events(): readonly OwlEvent[];
}

export function createProxyHome(clock: Clock = systemClock, listenFds: readonly number[] = []) {
  const home = mkdtempSync(join(tmpdir(), "owl-proxies-"));
  const paths = homePaths(home);
  mkdirSync(paths.run);
  mkdirSync(paths.logs);
  const disk = createPaperDisk();
  const table = createProcessTable();
  const mark = `mark-${home}`;

  function create(changes: Partial<ProxyConfig> = {}, command?: readonly [string, ...string[]]): House {
    let proxy = proxyConfig(changes);
    const config = (): Config =>
      ({ proxy, services: [], rollout: { surge: "auto", healthTimeoutMs: 30_000 }, stop: { graceMs: 1_000 } }) as never;
    const store = openMemoryStore(disk, () => undefined);
    const log = pino({ level: "silent" });
    const journal = createJournal(store, clock, log);
    const spawner = createSpawner({ clock: systemClock, table });
    const { bootId } = createProcReader();
    const wake = (): void => supervisor?.wake();
    const book = createInstanceBook({ store, journal, log, changed: wake });
    const ground = { clock, log, store, journal, book, record: en, spawner, table, paths, mark, bootId };
    const set = createProxySet({
      ...ground,
      life: () => instances,
      socketDirectory: paths.run,
      release: "1.0.0",
      env: { PATH: process.env.PATH ?? "" },
      config: () => proxy,
      listenFds,
      wake,
      ...(command === undefined ? {} : { command }),
    });
    const measures = createMeasures(store);
    const routing = { sync: () => undefined, isRouted: () => true, isOut: () => true, stop: () => undefined };
    const instances: Instances = createInstances({
      ...ground,
      proxies: set,
      routing,
      measures,
      programOf: () => set.program,
      idleTimeoutMs: () => 1_000,
      oomKills: { look: () => undefined, lately: () => false },
      confirmMs: () => 0,
      milestone: () => undefined,
      gone: () => undefined,
    });
    const supervisor: Supervisor = createSupervisor({
      ...ground,
      instances,
      routing,
      measures,
      proxies: set,
      config,
      rollouts: { facts: () => null } as never,
      wishes: {} as never,
      logs: { bound: () => undefined, tail: async () => [] },
      comparison: { tick: () => undefined } as never,
      definitions: { forNew: config, codeBefore: () => [] },
      doubts: () => false,
      settleDefinitions: () => false,
      opening: () => false,
      rests: () => false,
      closed: () => null,
      held: () => false,
      connectionLimit: () => null,
      freeMemoryBytes: () => null,
      turned: () => undefined,
      bound: () => undefined,
    });
    const letGo = async (): Promise<void> => {
      await supervisor.stop();
      await set.letGo();
      spawner.stop();
    };
    return {
      ...set,
      async start() {
        const proxyHalt = proxyStop(proxy);
        const own = { instances, config: config(), timed: { adopt: () => undefined, all: () => [] } };
        adoptInstances({ ...ground, ...own, socketDirectory: paths.run, proxyStop: proxyHalt });
        await supervisor.start();
        await set.settled();
      },
      configure(more) {
        proxy = { ...proxy, ...more };
        wake();
      },
      async stop() {
        await set.closeDoor();
        await supervisor.drainAll();
        await letGo();
      },
      async die() {
        await letGo();
      },
      events: () => journal.read(null),
    };
  }

  return {
    create,
    disk,
    paths,
    marked: () => table.marked(mark),
    cleanUp() {
      for (const { identity } of table.marked(mark)) table.killGroup(identity);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
