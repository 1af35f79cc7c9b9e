// The ground everything stands on: home, state file, process table, journal. Opened once, closed last.

import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { homePaths } from "../../config/home.ts";
import { systemClock } from "../../config/system-time.ts";
import { isoTime } from "../../config/time.ts";
import { type Sentence, textOf } from "../core/text/text.ts";
import { markOf } from "../instances/launch.ts";
import { createMeasures } from "../observe/measures.ts";
import { createProcessTable } from "../process/group-signal.ts";
import { createOomKills } from "../process/oom-kills.ts";
import { createProcReader } from "../process/proc-identity.ts";
import { createSpawner } from "../process/spawn.ts";
import { createJournal } from "../rollouts/journal.ts";
import { makeHome, socketDirectory } from "./home.ts";
import { openStore } from "./store.ts";

/** Throws `home.unwritable`, `state.unusable`. A damaged state file is set aside and said in `warnings`. */
export function openFoundation(config: Config, log: Logger) {
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
  return {
    clock,
    log,
    paths,
    store,
    warnings,
    reader,
    bootId: reader.bootId,
    oomKills: createOomKills(clock),
    table,
    spawner: createSpawner({ clock, table, reader }),
    mark: markOf(paths.home),
    socketDirectory: socketDirectory(paths, store),
    journal: createJournal(store, clock, log),
    measures: createMeasures(store),
    /** What is written down has many readers, so it is written once, in the installation's language. */
    record: textOf(config.language),
  };
}
