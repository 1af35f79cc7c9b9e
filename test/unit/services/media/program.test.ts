import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock as clock } from "../../../../config/system-time.ts";
import { readPauses } from "../../../../services/media/ffmpeg.ts";
import { findProgram, runProgram } from "../../../../services/media/program.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-program-");
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const idle = new AbortController().signal;

test("gives exit code and output", async () => {
  const argv = ["/bin/sh", "-c", "echo out; echo err >&2; exit 3"] as const;
  expect(await runProgram({ argv, signal: idle, clock, timeoutMs: 10_000 })).toEqual({
    code: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("of our environment it gets the few names any process gets", async () => {
  process.env.OWL_TEST_SECRET = "told to nobody";
  const ran = runProgram({ argv: ["/usr/bin/env"], signal: idle, clock, timeoutMs: 10_000 });
  delete process.env.OWL_TEST_SECRET;
  const { stdout } = await ran;
  expect(stdout).toMatch(/^PATH=/m);
  expect(stdout).not.toMatch(/OWL_/);
});

test("an abort kills the program and what it started, and throws the reason", async () => {
  const controller = new AbortController();
  const pidFile = join(dir, "pid");
  const argv = ["/bin/sh", "-c", `sleep 1000 & echo $! > ${pidFile}; wait`] as const;
  const running = runProgram({ argv, signal: controller.signal, clock, timeoutMs: 60_000 });
  let pid = 0;
  while (pid === 0) {
    pid = Number(await readFile(pidFile, "utf8").catch(() => "0"));
    await clock.sleep(5);
  }
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  // Killed, it may still be waiting for its turn to die: only gone, or dead and not yet collected, is the end.
  const stat = () => readFile(`/proc/${pid}/stat`, "utf8").catch(() => " Z ");
  while (!(await stat()).includes(" Z ")) await clock.sleep(5);
});

test("one that never ends, prints without end, or is not there, has a clear end", async () => {
  const run = (argv: readonly [string, ...string[]], timeoutMs: number) =>
    runProgram({ argv, signal: idle, clock, timeoutMs });
  await expect(run(["/bin/sleep", "1000"], 50)).rejects.toMatchObject({ code: "program.timeout" });
  await expect(run(["/usr/bin/yes"], 60_000)).rejects.toMatchObject({ code: "program.output" });
  await expect(run(["/nowhere/at-all"], 1_000)).rejects.toMatchObject({ code: "program.notFound" });
  expect(findProgram("sh")).toMatch(/\/sh$/);
  expect(findProgram("no-such-program-here")).toBeNull();
});

test("silence marks become pauses, one that lasts to the end is closed there", () => {
  const printed =
    "lavfi.silence_start=1.5\nlavfi.silence_end=2.25\nlavfi.silence_duration=0.75\nlavfi.silence_start=9\n";
  expect(readPauses(printed, 10_000)).toEqual([
    { startMs: 1_500, endMs: 2_250 },
    { startMs: 9_000, endMs: 10_000 },
  ]);
});
