// A disk that is full when owld starts: a small file system of the test's own (root, mount). Where nothing is on record:
// one sentence, the next step, exit code 1, nothing left running; where something is, it goes on from what can be read.
// Once there is space, nothing is in the way.

import { execFile, execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Status } from "../../config/control-api.ts";
import { markedOf } from "../support/installation-facts.ts";
import { program } from "../support/owld.ts";
import { poll } from "../support/poll.ts";
import { steadyPort } from "../support/steady-port.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const SIZE_KIB = 1024;
let base: string;
let home: string;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "owl-full-"));
  mkdirSync(join(base, "disk"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_KIB}k,mode=0755`, "tmpfs", join(base, "disk")]);
  home = join(base, "disk/home");
  writeFileSync(
    join(base, "owl.yaml"),
    `proxy: {listen: "127.0.0.1:${await steadyPort()}"}
stop: {grace: 2s}
turn: {finish: 100ms, wrapUp: 100ms}
services:
  one: {command: ["${process.execPath}", "${program("small-web.ts")}"], health: {http: /}, replicas: 1, routes: [{path: "/"}]}
`,
  );
});
afterEach(() => {
  execFileSync("umount", ["--lazy", join(base, "disk")]);
  rmSync(base, { recursive: true, force: true });
});

function start() {
  const child = spawn(join(ROOT, "supervisor/owld"), ["--config", join(base, "owl.yaml")], {
    env: { PATH: process.env.PATH ?? "", OWL_HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const exited = new Promise<readonly unknown[]>((resolve) =>
    child.once("close", (code, signal) => resolve([code, signal])),
  );
  /** What it said to people: its log is JSON, a line an event. */
  const words = () => said.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  return { child, exited, words };
}

/** Writes to it until the disk is full. */
function fill(file: string): void {
  const page = Buffer.alloc(4_096);
  try {
    for (;;) appendFileSync(file, page);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  }
}

const status = () =>
  new Promise<Status | null>((resolve) => {
    const env = { PATH: process.env.PATH ?? "", OWL_HOME: home };
    execFile(join(ROOT, "ctl/owlctl"), ["status", "--json"], { env }, (error, out) =>
      resolve(error ? null : (JSON.parse(out) as Status)),
    );
  });

test.each([
  ["not one byte", 0],
  ["less than a state file takes", 64],
])("with %s free", async (_what, freeKiB) => {
  const filler = join(base, "disk/filler");
  writeFileSync(filler, Buffer.alloc((SIZE_KIB - freeKiB) * 1024));
  const first = start();
  expect(await first.exited).toEqual([1, null]);
  expect(first.words()).toEqual([
    expect.stringMatching(/^owld: The disk of the state directory \S+ is full \(.* free\): ./),
    "Free some space there, then start owld again.",
  ]);
  await poll(() => markedOf(home).length === 0);

  rmSync(filler);
  execFileSync("mount", ["-o", "remount,size=200m", join(base, "disk")]);
  const second = start();
  await poll(async () => {
    if (second.child.exitCode !== null) throw new Error(second.words().join("\n"));
    return (await status())?.state === "steady";
  });
  expect((await status())?.warnings).toEqual([]);
  second.child.kill("SIGTERM");
  expect(await second.exited).toEqual([0, null]);
});

test("a killed owld goes on with what runs though not one byte can be written", async () => {
  execFileSync("mount", ["-o", "remount,size=60m", join(base, "disk")]);
  const first = start();
  await poll(async () => (await status())?.state === "steady");
  const before = await status();
  const filler = join(base, "disk/filler");
  fill(filler);
  first.child.kill("SIGKILL");
  await first.exited;
  // Without the index of its log too, as after a reboot.
  rmSync(join(home, "state/owl.sqlite-shm"), { force: true });
  fill(filler);
  const second = start();
  await poll(async () => (await status())?.state === "steady");
  const pidsOf = (now: Status | null) => now?.services[0]?.instances.map(({ pid }) => pid);
  expect(pidsOf(await status())).toEqual(pidsOf(before));
  expect((await status())?.warnings.join()).toContain("cannot be written");
  process.kill(pidsOf(before)?.[0] ?? 0, "SIGKILL");
  await poll(async () => {
    const now = await status();
    return now?.state === "steady" && pidsOf(now)?.[0] !== pidsOf(before)?.[0];
  });
  rmSync(filler);
  await poll(async () => (await status())?.warnings.length === 0);
  second.child.kill("SIGTERM");
  expect(await second.exited).toEqual([0, null]);
});
