// The ground everything stands on: home, state file, process table, journal, and the records kept there. Opened once,
// closed last. Invariant: what is on record is known before anything is decided from it.

import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { homePaths } from "../../config/home.ts";
import { systemClock, systemRandom } from "../../config/system-time.ts";
import { isoTime } from "../../config/time.ts";
import { type Sentence, textOf } from "../core/text/text.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import { createInstanceBook } from "../instances/book.ts";
import { markOf } from "../instances/launch.ts";
import { createServiceWishes } from "../instances/wishes.ts";
import type { Supervisor } from "../loop.ts";
import { createMeasures } from "../observe/measures.ts";
import { createControlGroups } from "../process/control-groups.ts";
import { createProcessTable } from "../process/group-signal.ts";
import { createOomKills } from "../process/oom-kills.ts";
import { createProcReader } from "../process/proc-identity.ts";
import { createSpawner } from "../process/spawn.ts";
import { createUsageSampler } from "../process/usage.ts";
import { findAccount } from "../process/user-switch.ts";
import { createReleaseFolder } from "../release/folder.ts";
import { createJournal } from "../rollouts/journal.ts";
import { createCourseRecord } from "../updates/course.ts";
import { makeHome, socketDirectory, userSocketDirectory } from "./home.ts";
import { createRelay } from "./relay.ts";
import { openStore } from "./store.ts";

export type Foundation = ReturnType<typeof openFoundation>;

/** Throws `home.unwritable`, `state.unusable`. A damaged state file is set aside and said in `warnings`. */
export function openFoundation(config: Config, log: Logger, running: ReleaseRef) {
  const clock = systemClock;
  const paths = homePaths(config.home);
  makeHome(paths);
  const stamp = isoTime(clock.now()).replace(/[:.]/g, "-");
  const { store, setAside } = openStore(paths.stateFile, stamp);
  const warnings = new Map<string, Sentence>();
  if (setAside !== null) {
    const { path, reason } = setAside;
    warnings.set("state", (text) => text.warnings.setAside(path, reason));
    log.warn(setAside, "the state file was set aside");
  }
  const reader = createProcReader();
  const table = createProcessTable(reader);
  const journal = createJournal(store, clock, log);
  const loop = createRelay<Supervisor>("the loop");
  const wake = (): void => loop.connected()?.wake();
  return {
    /** Reached by what is built before it. */
    loop,
    /** Something changed: the loop is to look. */
    wake,
    /** Aborted when owld ends. */
    ends: new AbortController(),
    failed: (what: string) => (error: unknown) => log.error({ err: asError(error) }, what),
    warned: (what: string) => (error: unknown) => log.warn({ err: asError(error) }, what),
    folder: createReleaseFolder(paths, systemRandom, running),
    course: createCourseRecord(store),
    book: createInstanceBook({ store, journal, log, changed: wake }),
    /** Opening: nothing ran before us, and the proxy does not listen yet. */
    door: { opening: false },
    wishes: createServiceWishes(store, wake),
    clock,
    log,
    paths,
    store,
    warnings,
    reader,
    bootId: reader.bootId,
    oomKills: createOomKills(clock),
    groups: createControlGroups(),
    table,
    /** Of runs by the clock alone: it tells what was used since its last look. */
    runUsage: createUsageSampler(clock, reader),
    spawner: createSpawner({ clock, table, reader }),
    mark: markOf(paths.home),
    socketDirectory: socketDirectory(paths, store),
    userSockets: async (user: string) => userSocketDirectory(store, await findAccount(user)),
    journal,
    measures: createMeasures(store),
    /** What is written down has many readers, so it is written once, in the installation's language. */
    record: textOf(config.language),
  };
}
