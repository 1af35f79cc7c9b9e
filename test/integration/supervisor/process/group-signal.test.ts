// Signals and groups: what is left over, what escaped, what must never be hit.

import { afterEach, beforeEach, expect, test } from "vitest";
import { createProcessTable } from "../../../../supervisor/process/group-signal.ts";
import { createProcReader } from "../../../../supervisor/process/proc-identity.ts";
import { createBench } from "../../../support/instance.ts";
import { poll } from "../../../support/poll.ts";

let bench: ReturnType<typeof createBench>;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.stop());

test("SIGTERM goes to the leader only, SIGKILL to the whole group", async () => {
  const { table } = bench;
  const running = await bench.runProgram("leaves-grandchild");
  const [, grandchild] = await bench.logged("web-1", /grandchild (\d+)/);
  expect(table.signalLeader(running.identity, "SIGTERM")).toBe("sent");
  expect(await running.exited).toEqual({ known: true, code: 0, signal: null });
  const left = table.groupMembers(running.identity).map(({ pid }) => pid);
  expect(left).toContain(Number(grandchild));
  expect(table.isAlive(running.identity)).toBe(false);
  expect(table.signalLeader(running.identity, "SIGTERM")).toBe("gone");
  expect(table.killGroup(running.identity)).toBe("sent");
  await poll(() => table.groupMembers(running.identity).length === 0);
  expect(table.killGroup(running.identity)).toBe("gone");
});

test("a program that ignores SIGTERM is ended by the group's SIGKILL", async () => {
  const running = await bench.runProgram("ignores-sigterm");
  await bench.logged("web-1", /up/);
  bench.table.signalLeader(running.identity, "SIGTERM");
  await bench.logged("web-1", /not now/);
  expect(bench.table.isAlive(running.identity)).toBe(true);
  bench.table.killGroup(running.identity);
  expect(await running.exited).toEqual({ known: true, code: null, signal: "SIGKILL" });
});

test("a process that escaped into a session of its own is found by its mark, with pid and command", async () => {
  const running = await bench.runProgram("escapes-by-setsid");
  await running.exited;
  const [, escaped] = await bench.logged("web-1", /escaped (\d+)/);
  expect(bench.table.groupMembers(running.identity)).toEqual([]);
  const [found] = bench.table.marked(bench.mark);
  expect(found).toMatchObject({
    identity: { pid: Number(escaped) },
    instance: "web-1",
    service: "web",
    release: "1.0.0",
    leader: true,
    command: "sleep 600",
  });
});

test("a zombie counts as gone", async () => {
  // The shell starts a child that ends at once and never reaps it: exec keeps the pid and forgets the child.
  const running = await bench.spawner.spawn(bench.request(["sh", "-c", "sh -c 'echo $$' & exec sleep 600"]));
  const [, child] = await bench.logged("web-1", /(\d+)/);
  const reader = createProcReader();
  await poll(() => reader.stat(Number(child))?.state === "Z");
  expect(bench.table.identify(Number(child))).toBeNull();
  expect(bench.table.groupMembers(running.identity).map(({ pid }) => pid)).toEqual([running.identity.pid]);
});

test("a recycled number is never signalled: other start ticks or another boot", async () => {
  const running = await bench.spawner.spawn(bench.request(["sleep", "600"]));
  const sent: unknown[] = [];
  const table = createProcessTable(createProcReader(), (...args) => sent.push(args));
  for (const stranger of [
    { ...running.identity, startTicks: "12" },
    { ...running.identity, bootId: "another" },
  ]) {
    expect(table.isAlive(stranger)).toBe(false);
    expect(table.signalLeader(stranger, "SIGTERM")).toBe("gone");
    expect(table.killGroup(stranger)).toBe("gone");
    expect(table.groupMembers(stranger)).toEqual([]);
  }
  expect(sent).toEqual([]);
  expect(table.killGroup(running.identity)).toBe("sent");
  expect(sent).toEqual([[-running.identity.pid, "SIGKILL"]]);
});

test("a leaderless group of a stranger is left alone: its members carry no mark of ours", async () => {
  const request = bench.request(["sh", "-c", "sleep 600 & echo $!; exit 0"], { env: { PATH: process.env.PATH ?? "" } });
  const running = await bench.spawner.spawn(request);
  await running.exited;
  const [, left] = await bench.logged("web-1", /(\d+)/);
  // Until it is the program it became, nobody can read its environment.
  const reader = createProcReader();
  await poll(() => reader.command(Number(left)) === "sleep 600");
  expect(bench.table.killGroup(running.identity)).toBe("gone");
  expect(bench.table.identify(Number(left))).not.toBeNull();
  process.kill(Number(left), "SIGKILL");
});
