// The launcher with a new owld on trial: a shell script, run as it is, with a stand-in for Node that does what a bad
// release would.

import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homePaths } from "../../../../config/home.ts";
import { switchCurrent } from "../../../../supervisor/release/current.ts";
import { beginTrial, readTrial } from "../../../../supervisor/updates/trial.ts";

const ROOT = new URL("../../../..", import.meta.url).pathname;
let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "owl-trial-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A release whose `node` is this shell script. */
function release(version: string, node: string, limits = { seconds: 40, kib: 1_048_576 }) {
  const path = join(home, "releases", version);
  mkdirSync(join(path, "runtime/bin"), { recursive: true });
  mkdirSync(join(path, "supervisor"));
  for (const name of ["owld", "trial"]) cpSync(join(ROOT, "supervisor", name), join(path, "supervisor", name));
  // Its own bounds are 40 s and 1 GiB: too long and too much for a test.
  const trial = readFileSync(join(path, "supervisor/trial"), "utf8");
  const small = trial.replace(/^trial_limit_s=\d+$/m, `trial_limit_s=${limits.seconds}`);
  writeFileSync(
    join(path, "supervisor/trial"),
    small.replace(/^trial_limit_kib=\d+$/m, `trial_limit_kib=${limits.kib}`),
  );
  writeFileSync(join(path, "runtime/bin/node"), `#!/bin/sh\n${node}\n`);
  chmodSync(join(path, "runtime/bin/node"), 0o755);
  writeFileSync(join(path, "package.json"), "{}");
  return { version, path };
}

/** Starts owld through `current`, as systemd does; resolves at its end. */
function launch(): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: process.env.PATH ?? "", OWL_HOME: home };
  return new Promise((resolve) =>
    execFile(join(home, "current/supervisor/owld"), ["--config", "a b.yaml"], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  );
}

const paths = () => homePaths(home);
const OLD = 'echo "old: $*"; exit 0';
const tried = (ends: readonly string[]) => expect(readTrial(paths())).toMatchObject({ starts: 3, ends });

function onTrial(
  node: string,
  limits?: Parameters<typeof release>[2],
): { from: { version: string; path: string }; to: { version: string; path: string } } {
  const from = release("1.0.0", OLD);
  const to = release("1.1.0", node, limits);
  symlinkSync(from.path, join(home, "current"));
  beginTrial(paths(), from, to);
  switchCurrent(paths(), to.path);
  return { from, to };
}

test.each([
  ["throws", "exit 1", "exited with 1"],
  ["refuses the configuration", "exit 78", "exited with 78"],
  ["is killed", "kill -9 $$", "exited with 137"],
])("an owld that %s is started three times, then the one before it comes back", async (_, node, end) => {
  const { from } = onTrial(node);
  const { code, out, err } = await launch();
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^old: .*main\.ts --config a b\.yaml\n$/) });
  expect(readlinkSync(join(home, "current"))).toBe(from.path);
  tried([end, end, end]);
  expect(err).toContain("takes over again");
});

test.each([
  ["hangs", "exec sleep 60", { seconds: 1, kib: 1_048_576 }, "was not up within 1 s"],
  [
    "eats memory",
    "x=$(head -c 80000000 /dev/zero | tr '\\0' a); sleep 60",
    { seconds: 60, kib: 40_000 },
    "took more than 1 GiB of memory",
  ],
])("an owld that %s is ended and undone like one that throws", async (_, node, limits, end) => {
  const { from } = onTrial(node, limits);
  expect(await launch()).toMatchObject({ code: 0, out: expect.stringMatching(/^old: /) });
  expect(readlinkSync(join(home, "current"))).toBe(from.path);
  tried([end, end, end]);
});

test("without a link before, none is left, and the code before it starts all the same", async () => {
  const from = release("1.0.0", OLD);
  const to = release("1.1.0", "exit 3");
  beginTrial(paths(), from, to);
  switchCurrent(paths(), to.path);
  expect((await launch()).out).toMatch(/^old: /);
  expect(existsSync(join(home, "current"))).toBe(false);
});

test("starts are counted over deaths of the launcher", async () => {
  onTrial('kill -9 "$PPID"; exit 1');
  for (let start = 1; start <= 3; start++) {
    await launch();
    expect(readTrial(paths())?.starts).toBe(start);
  }
  expect((await launch()).out).toMatch(/^old: /);
});

test("one that is up is started again without being watched", async () => {
  onTrial('[ -z "$OWL_TRIAL" ] || { rm "$OWL_HOME/trial"; exit 75; }; echo "new: $*"; exit 0');
  const { code, out } = await launch();
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^new: .*main\.ts --config a b\.yaml\n$/) });
  expect(existsSync(join(home, "trial"))).toBe(false);
});

test("one that comes up at the second start is kept", async () => {
  const { to } = onTrial('grep -q "^starts=2" "$OWL_HOME/trial" || exit 1; rm "$OWL_HOME/trial"; exit 75');
  writeFileSync(
    join(to.path, "runtime/bin/node"),
    '#!/bin/sh\n[ -f "$OWL_HOME/trial" ] || exit 0\ngrep -q "^starts=2" "$OWL_HOME/trial" || exit 1\nrm "$OWL_HOME/trial"; exit 75\n',
  );
  expect((await launch()).code).toBe(0);
  expect(readlinkSync(join(home, "current"))).toBe(to.path);
});

test("a stop in the middle of it is passed on and is no failed start", async () => {
  onTrial('trap "exit 0" TERM; kill -TERM "$PPID"; while :; do sleep 0.1; done');
  expect((await launch()).code).toBe(0);
  expect(readTrial(paths())).toMatchObject({ starts: 1, ends: [] });
});

test("an owld that the record does not name is started as ever", async () => {
  const { from } = onTrial("exit 1");
  switchCurrent(paths(), from.path);
  expect((await launch()).out).toMatch(/^old: /);
  expect(readTrial(paths())?.starts).toBe(0);
});
