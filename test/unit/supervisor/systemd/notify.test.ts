import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { createSystemdNotify, takeSystemdEnvironment } from "../../../../supervisor/systemd/notify.ts";

const log = pino({ level: "silent" });

function setup(watchdogMs: number | null = 60_000) {
  const sent: string[][] = [];
  let nowMs = 1_000;
  let answer: () => void = () => undefined;
  const notify = createSystemdNotify({
    systemd: { notifySocket: "/run/systemd/notify", watchdogMs },
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log,
    send: (_, assignments) => {
      sent.push([...assignments]);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { notify, sent, advance, answer: async () => answer() };
}

describe("systemd's variables", () => {
  test("are read and removed, a watchdog for another process is not taken", () => {
    const env = { NOTIFY_SOCKET: "/n", WATCHDOG_USEC: "60000000", WATCHDOG_PID: "7", PATH: "/bin" };
    expect(takeSystemdEnvironment({ ...env }, 7)).toEqual({ notifySocket: "/n", watchdogMs: 60_000 });
    expect(takeSystemdEnvironment(env, 8)).toEqual({ notifySocket: "/n", watchdogMs: null });
    expect(env).toEqual({ PATH: "/bin" });
  });
});

describe("the watchdog", () => {
  test("is told at most every third of its time, by the loop's turns and by nothing else", async () => {
    const { notify, sent, advance, answer } = setup();
    expect(notify.beatEveryMs).toBe(20_000);
    notify.beat();
    notify.beat();
    expect(sent).toEqual([["WATCHDOG=1"]]);
    await answer();
    advance(19_999);
    notify.beat();
    expect(sent).toHaveLength(1);
    advance(1);
    await Promise.resolve();
    notify.beat();
    expect(sent).toHaveLength(2);
    advance(600_000);
    expect(sent).toHaveLength(2);
  });

  test("does not pile up beats while systemd is slow to take one", () => {
    const { notify, sent, advance } = setup();
    notify.beat();
    advance(60_000);
    notify.beat();
    expect(sent).toHaveLength(1);
  });
});

describe("states", () => {
  test("are one line each, and silence where systemd did not ask", async () => {
    const { notify, sent, answer } = setup(null);
    const told = notify.ready("2 services\nstarting");
    await answer();
    await told;
    expect(sent).toEqual([["READY=1", "STATUS=2 services starting"]]);
    notify.beat();
    expect(sent).toHaveLength(1);

    const silent = createSystemdNotify({
      systemd: { notifySocket: null, watchdogMs: null },
      clock: systemClock,
      log,
      send: () => Promise.reject(new Error("never called")),
    });
    expect(silent.active).toBe(false);
    await silent.ready("x");
    await silent.stopping();
  });

  test("a systemd that cannot be told stops nothing", async () => {
    const notify = createSystemdNotify({
      systemd: { notifySocket: "/n", watchdogMs: null },
      clock: systemClock,
      log,
      send: () => Promise.reject(new Error("no such file")),
    });
    await notify.ready("x");
  });
});
