// The chaos run's way into a running process: what it is told it does, and only when it can be reached.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { order, orderFile } from "../../chaos/faults/orders.ts";

const OBEDIENT = new URL("../../chaos/faults/obedient.ts", import.meta.url).href;

let dir: string;
let socket: string;
let child: ChildProcess;
let pid: number;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "owl-orders-"));
  socket = join(dir, "web-1.sock");
  const program = join(dir, "answers.mjs");
  const answer = "process.send({ loop: performance.eventLoopUtilization().active, rss: process.memoryUsage().rss })";
  writeFileSync(program, `import "${OBEDIENT}";\nprocess.on("message", () => ${answer});\nprocess.send("up");`);
  child = fork(program, { env: { ...process.env, OWL_SOCKET: socket }, stdio: "ignore" });
  await once(child, "message");
  pid = child.pid ?? 0;
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  rmSync(dir, { recursive: true });
});

async function ask(): Promise<{ readonly loop: number; readonly rss: number }> {
  const answered = once(child, "message");
  child.send("how are you?");
  return (await answered)[0];
}

test("it is busy so long, and answers only after it", async () => {
  const before = await ask();
  expect(await order(pid, socket, { busyMs: 1_500 })).toBe(true);
  // The loop's own count of its work: a slow machine can only add to it.
  expect((await ask()).loop - before.loop).toBeGreaterThan(1_400);
  expect(existsSync(orderFile(socket))).toBe(false);
});

test("it takes the memory and keeps it", async () => {
  const before = await ask();
  expect(await order(pid, socket, { eatMiB: 64 })).toBe(true);
  await expect.poll(async () => (await ask()).rss - before.rss).toBeGreaterThan(60 * 2 ** 20);
});

test("a process that is gone has not begun, and no order is left for its successor", async () => {
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await order(pid, socket, { busyMs: 1 })).toBe(false);
  expect(existsSync(orderFile(socket))).toBe(false);
});

test("an order that nobody waits for any more does nothing", async () => {
  child.kill("SIGUSR2");
  expect((await ask()).rss).toBeGreaterThan(0);
});
