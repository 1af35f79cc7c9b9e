// Instance logs on a real disk: rotation, search across files, following, bytes that are no text.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { LogLine } from "../../../../config/control-api.ts";
import { systemClock } from "../../../../config/system-time.ts";
import type { InstanceLogs } from "../../../../supervisor/ports.ts";
import { createInstanceLogs } from "../../../../supervisor/process/log-file.ts";
import { createBench, program } from "../../../support/instance.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function setup(limitBytes = 1_000, living: readonly string[] = ["web-1", "web-2"], count = 5) {
  const directory = mkdtempSync(join(tmpdir(), "owl-logs-"));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  let now = Date.parse("2026-01-02T03:00:00Z");
  const clock = {
    ...systemClock,
    now: () => now,
    every: (_: number, signal: AbortSignal) => systemClock.every(5, signal),
  };
  const logs = createInstanceLogs({
    ...{ directory, clock, living: () => new Set(living) },
    limits: () => ({ sizeBytes: limitBytes, count }),
  });
  const path = (instance: string): string => join(directory, `${instance}.log`);
  return {
    directory,
    logs,
    path,
    setNow: (at: string) => {
      now = Date.parse(at);
    },
    write(instance: string, text: string | Buffer) {
      appendFileSync(path(instance), text);
      utimesSync(path(instance), now / 1_000, now / 1_000);
    },
  };
}

const never = new AbortController().signal;
const all = { instances: ["web-1"], lines: null, sinceMs: null, follow: false, mark: false };
type Query = Parameters<InstanceLogs["read"]>[0];

async function read(logs: InstanceLogs, changes: Partial<Query> = {}): Promise<LogLine[]> {
  return Array.fromAsync(logs.read({ ...all, ...changes }, never));
}
const texts = (lines: readonly LogLine[]): string[] => lines.map(({ line }) => line);

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `line ${from + n}\n`).join("");

test("so many files are kept as asked for, and fewer once fewer are", async () => {
  for (const [count, kept] of [
    [5, ["web-1.log", "web-1.log.1", "web-1.log.2", "web-1.log.3", "web-1.log.4"]],
    [2, ["web-1.log", "web-1.log.1"]],
  ] as const) {
    const { directory, logs, write } = setup(100, ["web-1"], count);
    for (let n = 0; n < 5; n++) writeFileSync(join(directory, `web-1.log.${n + 1}`), "old");
    for (let part = 0; part < 6; part++) {
      write("web-1", numbered(0, 100));
      await logs.rotate();
    }
    expect(
      readdirSync(directory)
        .filter((name) => !name.endsWith(".times"))
        .sort(),
    ).toEqual(kept);
  }
});

test("the last lines and everything are the same across rotations as without them", async () => {
  const { logs, write, path } = setup();
  for (let part = 0; part < 4; part++) {
    write("web-1", numbered(part * 200, part * 200 + 200));
    await logs.rotate();
  }
  write("web-1", numbered(800, 810));
  expect(existsSync(`${path("web-1")}.4`)).toBe(true);
  const expected = numbered(0, 810).trim().split("\n");
  expect(texts(await read(logs))).toEqual(expected);
  expect(await logs.tail("web-1", 15)).toEqual(expected.slice(-15));
  expect(texts(await read(logs, { lines: 500 }))).toEqual(expected.slice(-500));
});

test("only so many files are kept", async () => {
  const { logs, write, directory } = setup();
  for (let part = 0; part < 8; part++) {
    write("web-1", numbered(part * 200, part * 200 + 200));
    await logs.rotate();
  }
  const files = readdirSync(directory).filter((name) => !name.endsWith(".times"));
  expect(files.toSorted()).toEqual(["web-1.log", "web-1.log.1", "web-1.log.2", "web-1.log.3", "web-1.log.4"]);
  expect(texts(await read(logs))[0]).toBe("line 800");
});

test("a log that grows faster than it is copied keeps its last lines where it lies, and says so", async () => {
  const { logs, path, write, directory } = setup();
  write("web-1", "old\n".repeat(300));
  await logs.rotate();
  write("web-1", Array.from({ length: 100_000 }, (_, n) => `line ${n}\n`).join(""));
  logs.bound();
  const [first, ...rest] = texts(await read(logs));
  expect(first).toMatch(/KiB were let go/);
  expect(rest.at(-1)).toBe("line 99999");
  expect(rest.every((line) => /^line \d+$/.test(line))).toBe(true);
  expect(statSync(path("web-1")).size).toBeLessThan(270_000);
  expect(readdirSync(directory).filter((name) => name.includes(".log."))).toEqual([]);
});

test("a line cut by a rotation is whole again when read", async () => {
  const { logs, write } = setup();
  write("web-1", `${"a".repeat(2_000)}|`);
  await logs.rotate();
  write("web-1", "the rest\nnext\n");
  expect(texts(await read(logs))).toEqual([`${"a".repeat(2_000)}|the rest`, "next"]);
  expect(await logs.tail("web-1", 1)).toEqual(["next"]);
  expect((await logs.tail("web-1", 2))[0]).toHaveLength(2_009);
});

test("what is written while a log is being copied is in the copy or in the new file", async () => {
  const { logs, path } = setup(20_000);
  let written = 0;
  const write = (): void => appendFileSync(path("web-1"), `line ${written++}\n`);
  while (written < 5_000) write();
  for (let rotations = 0; rotations < 3; rotations++) {
    let over = false;
    const rotated = logs.rotate().then(() => {
      over = true;
    });
    for (let turns = 0; turns < 5_000 && !over; turns++) {
      write();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await rotated;
    while (statSync(path("web-1")).size < 30_000) write();
  }
  expect(existsSync(`${path("web-1")}.3`)).toBe(true);
  const lines = texts(await read(logs));
  expect(lines).toEqual(Array.from({ length: written }, (_, n) => `line ${n}`));
});

test("bad bytes, NUL, a line of 5 MB and a last line without its end all survive", async () => {
  const bench = createBench();
  cleanups.push(() => bench.stop());
  const running = await bench.spawner.spawn(bench.request([process.execPath, program("prints-bad-bytes")]));
  await running.exited;
  const directory = join(bench.home, "logs");
  const logs = createInstanceLogs({ directory, clock: systemClock, living: () => new Set() });
  const lines = texts(await read(logs));
  expect(lines.map((line) => (line.length > 100 ? line.length : line))).toEqual([
    "a\uFFFD\uFFFDb",
    "nul\0inside",
    5_000_000,
    "no end",
  ]);
  expect((await logs.tail("web-1", 2)).map((line) => line.length)).toEqual([5_000_000, 6]);
  expect(readFileSync(join(directory, "web-1.log")).subarray(0, 5)).toEqual(
    Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0a]),
  );
});

test("since goes by the lines' own times", async () => {
  const { logs, write, setNow } = setup(1_000_000);
  setNow("2026-01-02T03:10:00Z");
  write("web-1", "2026-01-02T03:00:00.000Z old\n  its second line\n");
  write("web-1", '{"level":30,"time":1767323370000,"msg":"json, 03:09:30"}\n2026-01-02T03:09:45.000Z new\n');
  const found = await read(logs, { sinceMs: 60_000 });
  expect(found.map(({ at }) => at)).toEqual(
    [null, "2026-01-02T03:09:30.000Z", "2026-01-02T03:09:45.000Z"].slice(found.length === 3 ? 0 : 1),
  );
  expect(texts(found).at(-1)).toContain("new");
  expect(texts(found)).not.toContain("2026-01-02T03:00:00.000Z old");
});

test("since goes by what was noted of the file's growth when lines carry no time", async () => {
  const { logs, write, setNow } = setup(1_000_000);
  setNow("2026-01-02T03:00:00Z");
  write("web-1", "first\n");
  await logs.rotate();
  setNow("2026-01-02T03:05:00Z");
  write("web-1", "second\n");
  await logs.rotate();
  setNow("2026-01-02T03:10:00Z");
  write("web-1", "third\n");
  expect(texts(await read(logs, { sinceMs: 60_000 }))).toEqual(["third"]);
  expect(texts(await read(logs, { sinceMs: 6 * 60_000 }))).toEqual(["second", "third"]);
  expect(texts(await read(logs, { sinceMs: 60 * 60_000 }))).toEqual(["first", "second", "third"]);
  expect(texts(await read(logs, { sinceMs: 60 * 60_000, lines: 1 }))).toEqual(["third"]);
});

test("notes of growth survive a rotation and a new owld", async () => {
  const { logs, write, setNow, directory } = setup();
  write("web-1", "first\n");
  await logs.rotate();
  setNow("2026-01-02T03:05:00Z");
  write("web-1", `${"x".repeat(2_000)}\n`);
  await logs.rotate();
  const clock = { ...systemClock, now: () => Date.parse("2026-01-02T03:05:10Z") };
  const later = createInstanceLogs({ directory, clock, living: () => new Set(["web-1"]) });
  expect(texts(await read(later, { sinceMs: 60_000 }))).toEqual(["x".repeat(2_000)]);
});

test("several instances are read in order of time", async () => {
  const { logs, write } = setup(1_000_000);
  write("web-1", "2026-01-02T02:00:01Z a\n2026-01-02T02:00:03Z c\n");
  write("web-2", "2026-01-02T02:00:02Z b\n2026-01-02T02:00:04Z d\n");
  const found = await read(logs, { instances: ["web-1", "web-2"] });
  expect(texts(found).map((line) => line.at(-1))).toEqual(["a", "b", "c", "d"]);
  expect(texts(await read(logs, { instances: ["web-1", "web-2"], lines: 2 })).map((line) => line.at(-1))).toEqual([
    "c",
    "d",
  ]);
});

test("following goes on through a rotation and takes up new instances", async () => {
  const { logs, write } = setup();
  write("web-1", "old\nbefore\n");
  const stop = new AbortController();
  const more: string[] = [];
  const query = { ...all, lines: 1, follow: true, moreInstances: () => more };
  const lines = logs.read(query, stop.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value?.line ?? "ended";
  expect(await next()).toBe("before");
  write("web-1", "unfinished ");
  write("web-1", `line ${"y".repeat(1_500)}\n`);
  expect(await next()).toBe(`unfinished line ${"y".repeat(1_500)}`);
  write("web-1", "last of the old file\n");
  await logs.rotate();
  write("web-1", "first of the new file\n");
  expect(await next()).toBe("last of the old file");
  expect(await next()).toBe("first of the new file");
  write("web-2", "hello\n");
  more.push("web-2");
  expect(await next()).toBe("hello");
  const ended = next();
  stop.abort();
  expect(await ended).toBe("ended");
});

test("logs of gone instances are pruned, those of living ones never", async () => {
  const { logs, write, directory, path } = setup(1_000, ["web-1"]);
  for (let n = 1; n <= 14; n++) {
    write(`web-${n}`, "text\n");
    utimesSync(path(`web-${n}`), n, n);
  }
  await logs.rotate();
  const kept = readdirSync(directory).filter((name) => name.endsWith(".log"));
  expect(kept).toContain("web-1.log");
  expect(kept).toHaveLength(11);
  expect(kept).not.toContain("web-2.log");
  expect(kept).toContain("web-14.log");
  expect(existsSync(join(directory, "web-2.log.times"))).toBe(false);
});

test("what a killed owld left of a rotation is thrown away, the log itself is whole", async () => {
  const { logs, write, path } = setup();
  write("web-1", numbered(0, 300));
  writeFileSync(`${path("web-1")}.copying`, "half a copy");
  await logs.rotate();
  expect(texts(await read(logs))).toEqual(numbered(0, 300).trim().split("\n"));
  expect(existsSync(`${path("web-1")}.copying`)).toBe(false);
  expect(statSync(path("web-1")).size).toBe(0);
});

test("no log at all is no line", async () => {
  const { logs } = setup();
  expect(await logs.tail("web-9", 5)).toEqual([]);
  expect(await read(logs, { instances: ["web-9"] })).toEqual([]);
});
