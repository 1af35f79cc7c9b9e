// Logs that nobody can write to: /dev/full says of every byte that the disk is full. Nothing that runs ends for it.

import { spawn } from "node:child_process";
import { closeSync, openSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createOwldHome, type OwldHome, program } from "../../../support/owld.ts";

const homes: OwldHome[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.cleanUp();
});

test.each(["owld", "services"])("a process that logs as %s do works on", async (which) => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [program("logs-on.ts"), which], {
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", full, full],
  });
  closeSync(full);
  expect(await new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal])))).toEqual([
    0,
    null,
  ]);
});

test("owld and a proxy start, serve and stop though not one line of theirs is written", async () => {
  const home = await createOwldHome(`
stop: {grace: 2s}
turn: {finish: 100ms, wrapUp: 100ms}
services:
  one: {command: ["${process.execPath}", "${program("small-web.ts")}"], health: {http: /}, replicas: 1, routes: [{path: "/"}]}
`);
  homes.push(home);
  const owld = home.start({}, undefined, "/dev/full");
  const before = await owld.until(({ state }) => state === "steady");
  symlinkSync("/dev/full", join(home.home, "logs/proxy-2.log"));
  process.kill(before.proxy.processes[0]?.pid ?? 0, "SIGKILL");
  await owld.until(({ proxy }) => proxy.processes.some(({ id, state }) => id === "proxy-2" && state === "ready"));
  const answer = await fetch(`http://127.0.0.1:${home.port}/`);
  expect([answer.status, await answer.text()]).toEqual([200, "one-1"]);
  owld.child.kill("SIGTERM");
  expect(await owld.exited).toEqual({ code: 0, signal: null });
});
