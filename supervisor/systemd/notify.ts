// What owld tells systemd, through systemd-notify (Node cannot send to its datagram socket itself).
// Invariant: a watchdog beat is sent only from a call of the main loop, never from a timer: a blocked loop beats no more.

import { execa } from "execa";
import type { Logger } from "pino";
import type { Clock, MonotonicMs } from "../../config/time.ts";

interface SystemdNotify {
  /** True under Type=notify. */
  readonly active: boolean;
  /** Control socket up and adoption done. Await it: a message of a process that ended counts as a stranger's. */
  ready(status: string): Promise<void>;
  /** The line `systemctl status` shows. */
  status(text: string): Promise<void>;
  /** The orderly stop has begun. */
  stopping(): Promise<void>;
  /** Called by every turn of the main loop; tells systemd at most every third of WatchdogSec. */
  beat(): void;
  /** How often the main loop has to turn for the watchdog, or null without one. */
  readonly beatEveryMs: number | null;
}

interface SystemdEnvironment {
  readonly notifySocket: string | null;
  /** WatchdogSec, when it is meant for this process. */
  readonly watchdogMs: number | null;
}

/** Reads systemd's variables and removes them from `env`, so that no instance inherits them. */
export function takeSystemdEnvironment(env: Record<string, string | undefined>, pid: number): SystemdEnvironment {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  const mine = WATCHDOG_PID === undefined || WATCHDOG_PID === String(pid);
  const watchdogMs = mine && /^\d+$/.test(WATCHDOG_USEC ?? "") ? Number(WATCHDOG_USEC) / 1_000 : 0;
  return { notifySocket: NOTIFY_SOCKET || null, watchdogMs: watchdogMs > 0 ? watchdogMs : null };
}

/** A notifier; does nothing where systemd did not ask. `send` is systemd-notify's place in tests. */
export function createSystemdNotify(deps: {
  readonly systemd: SystemdEnvironment;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly send?: (socket: string, assignments: readonly string[]) => Promise<void>;
}): SystemdNotify {
  const { systemd, clock, log, send = runSystemdNotify } = deps;
  const socket = systemd.notifySocket;
  const beatEveryMs = socket === null || systemd.watchdogMs === null ? null : systemd.watchdogMs / 3;
  let beatAt: MonotonicMs = Number.NEGATIVE_INFINITY;
  let beating = false;

  async function tell(...assignments: string[]): Promise<void> {
    if (socket === null) return;
    try {
      await send(socket, assignments);
    } catch (error) {
      log.warn({ err: error }, "systemd was not told");
    }
  }

  return {
    active: socket !== null,
    beatEveryMs,
    ready: (status) => tell("READY=1", `STATUS=${oneLine(status)}`),
    status: (text) => tell(`STATUS=${oneLine(text)}`),
    stopping: () => tell("STOPPING=1"),
    beat() {
      const nowMs = clock.monotonicMs();
      if (beatEveryMs === null || beating || nowMs - beatAt < beatEveryMs) return;
      beatAt = nowMs;
      beating = true;
      void tell("WATCHDOG=1").finally(() => {
        beating = false;
      });
    },
  };
}

async function runSystemdNotify(socket: string, assignments: readonly string[]): Promise<void> {
  await execa("systemd-notify", assignments, {
    env: { NOTIFY_SOCKET: socket, PATH: "/usr/local/bin:/usr/bin:/bin" },
    extendEnv: false,
    stdin: "ignore",
    // A systemd that does not take messages must not hold up the stop.
    timeout: 5_000,
  });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 200);
}
