// Sees the exits of processes that are not our children: by the end of their FIFO, with a slow poll as the floor.
// Invariant: only /proc decides that a process is gone; a FIFO's end is a reason to look, never the answer.

import type { Clock } from "../../config/time.ts";
import type { ExitReport, ProcessIdentity, ProcessTable, RunningProcess } from "../ports.ts";
import { watchEnd } from "./exit-fifo.ts";

const POLL_MS = 1_000;
// Descriptors are closed a moment before a dying process turns into a zombie.
const LOOK_AGAIN_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500] as const;

interface Watched {
  readonly identity: ProcessIdentity;
  readonly done: () => void;
}

interface ExitWatch {
  watch(identity: ProcessIdentity, exitFifo: string): RunningProcess;
  stop(): void;
}

export function createExitWatch(clock: Clock, table: ProcessTable): ExitWatch {
  const watched = new Set<Watched>();
  let cancelPoll: (() => void) | null = null;

  const poll = (): void => {
    cancelPoll = null;
    for (const entry of [...watched]) if (!table.isAlive(entry.identity)) entry.done();
    ensurePoll();
  };
  const ensurePoll = (): void => {
    if (cancelPoll === null && watched.size > 0) cancelPoll = clock.after(POLL_MS, poll, { unref: true });
  };

  return {
    watch(identity, exitFifo) {
      const exited = Promise.withResolvers<ExitReport>();
      let cancelLook: (() => void) | null = null;
      let endWatch: () => void = () => undefined;
      const letGo = (): void => {
        watched.delete(entry);
        cancelLook?.();
        endWatch();
      };
      const entry: Watched = {
        identity,
        done() {
          letGo();
          exited.resolve({ known: false });
        },
      };
      const look = (attempt: number): void => {
        cancelLook = null;
        if (!watched.has(entry)) return;
        if (!table.isAlive(identity)) {
          entry.done();
          return;
        }
        const pause = LOOK_AGAIN_MS[attempt];
        // It closed the FIFO by itself and lives on: the poll alone watches from here.
        if (pause !== undefined) cancelLook = clock.after(pause, () => look(attempt + 1), { unref: true });
      };
      watched.add(entry);
      ensurePoll();
      endWatch = watchEnd(exitFifo, () => look(0));
      return { identity, exited: exited.promise, look: () => look(0), release: letGo };
    },
    stop() {
      cancelPoll?.();
      cancelPoll = null;
      watched.clear();
    },
  };
}
