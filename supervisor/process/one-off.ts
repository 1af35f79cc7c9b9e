// A program that runs once, beside the instances: a command of `before`, of `owlctl run`. It reads nothing, what it says
// is passed on as it comes, and it ends with whoever asked for it.
// Invariant: its whole group is gone when this is over; one that an owld's end cut is found by its mark and killed.

import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { asError, OwlError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import type { OneOff, OneOffEnd, ProcessTable } from "../ports.ts";
import { switchUser } from "./user-switch.ts";

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 5_000;

export function createOneOffs({ clock, table }: { readonly clock: Clock; readonly table: ProcessTable }): OneOff {
  return async (asked, signal) => {
    signal.throwIfAborted();
    if (!(statSync(asked.cwd, { throwIfNoEntry: false })?.isDirectory() ?? false))
      throw new OwlError("spawn.failed", `The directory ${asked.cwd} does not exist.`);
    const { argv, uid, gid } = await switchUser(asked.argv, asked.user);
    const child = spawn(argv[0], argv.slice(1), {
      cwd: asked.cwd,
      env: { ...asked.env },
      detached: true,
      uid,
      gid,
      stdio: ["ignore", "pipe", "pipe"],
    });
    // In the tick of the spawn: not reaped yet, the number is surely its own.
    const identity = child.pid === undefined ? null : table.identify(child.pid);
    const [closed, exited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    child.once("error", (error) => {
      const why = (error as NodeJS.ErrnoException).code ?? asError(error).message;
      closed.reject(new OwlError("spawn.failed", `${asked.argv[0]}: ${why}.`, { cause: error }));
    });
    child.once("exit", () => exited.resolve());
    child.once("close", () => closed.resolve());
    let cause: OneOffEnd["cause"] = null;
    const cancels: (() => void)[] = [];
    const end = (why: OneOffEnd["cause"]): void => {
      if (cause !== null || identity === null) return;
      cause = why;
      table.signalLeader(identity, "SIGTERM");
      cancels.push(clock.after(GRACE_MS, () => table.killGroup(identity)));
    };
    const onAbort = (): void => end("aborted");
    signal.addEventListener("abort", onAbort);
    cancels.push(clock.after(asked.limitMs, () => end("late")));
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk: Buffer) => {
        const taken = asked.said(name, chunk);
        if (taken === undefined) return;
        // Whoever listens is slower than it speaks.
        child[name].pause();
        void taken.finally(() => child[name].resume());
      });
    }
    try {
      // What it left behind holds its output open: that goes with it.
      await Promise.race([exited.promise, closed.promise]);
      if (identity !== null) table.killGroup(identity);
      await closed.promise;
    } finally {
      for (const cancel of cancels) cancel();
      signal.removeEventListener("abort", onAbort);
    }
    return { code: child.exitCode, signal: child.signalCode, cause };
  };
}
