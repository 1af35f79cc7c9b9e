// Runs the real owlctl launcher and gives what it printed and how it ended.

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../ctl/owlctl", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCtl {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when `pattern` has appeared on standard error or output. */
  seen(pattern: RegExp): Promise<void>;
}

/** Starts `owlctl ARGS…` against the daemon of `home`, in English unless `env` says otherwise. */
export function startCtl(home: string, args: readonly string[], env: Record<string, string> = {}): RunningCtl {
  const { OWL_CONTROL_SOCKET: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env;
  const child = spawn(LAUNCHER, args, { env: { ...inherited, OWL_HOME: home, OWL_LANG: "en", ...env }, cwd: home });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const told = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
    told();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
    told();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  return {
    child,
    ended,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(stdout) && !pattern.test(stderr)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        child.once("close", () => reject(new Error(`owlctl ended before ${pattern} appeared:\n${stdout}\n${stderr}`)));
        look();
      }),
  };
}

/** Runs it to its end. */
export function ctl(home: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const running = startCtl(home, args, env);
  running.child.stdin?.end();
  return running.ended;
}
