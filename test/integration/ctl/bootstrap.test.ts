// npm start and what comes before it, in a checkout in miniature: when it installs, what it prints, how it ends.

import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Checkout, makeCheckout } from "../../support/checkout.ts";

let checkout: Checkout;
const children: ChildProcess[] = [];
beforeEach(() => {
  checkout = makeCheckout();
});
afterEach(() => {
  // By process group: the bootstrap and, should it still live, the stand-in are ours alone.
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  checkout.remove();
});

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  seen(pattern: RegExp): Promise<void>;
}

function run(args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [join(checkout.root, "ctl/bootstrap.mjs"), ...args], {
    cwd: checkout.root,
    env: { PATH: process.env.PATH ?? "", ...checkout.env, ...env },
  });
  children.push(child);
  let stdout = "";
  let stderr = "";
  let look = () => {};
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
    look();
  });
  return {
    child,
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr }))),
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (pattern.test(stdout + stderr)) resolve();
        };
        child.once("close", () => reject(new Error(`it ended before ${pattern}:\n${stdout}${stderr}`)));
        look();
      }),
  };
}

describe("installing", () => {
  test("what a person's npm ci has installed is taken as it is: no network, no second install", async () => {
    expect((await run(["start"], { STAND_IN_EXIT: "0" }).ended).code).toBe(0);
    expect(checkout.installs()).toBe(0);
  });

  test("a changed lock file installs once, then no more", async () => {
    checkout.setLock({ "node_modules/a": { version: "2.0.0" } });
    const first = await run(["start"], { STAND_IN_EXIT: "0" }).ended;
    expect([first.code, checkout.installs()]).toEqual([0, 1]);
    expect(first.stderr).toContain("installing packages");
    await run(["start"], { STAND_IN_EXIT: "0" }).ended;
    expect(checkout.installs()).toBe(1);
  });

  test("an install that was cut off is done again", async () => {
    rmSync(join(checkout.root, "node_modules/.package-lock.json"));
    await run(["start"], { STAND_IN_EXIT: "0" }).ended;
    expect(checkout.installs()).toBe(1);
  });

  test("a package for another platform may be missing", async () => {
    writeFileSync(
      join(checkout.root, "package-lock.json"),
      JSON.stringify({
        packages: {
          "node_modules/a": { version: "1.0.0" },
          "node_modules/b": { version: "1", optional: true, os: ["aix"] },
          "node_modules/c": { version: "1", optional: true },
        },
      }),
    );
    await run(["start"], { STAND_IN_EXIT: "0" }).ended;
    expect(checkout.installs()).toBe(0);
  });

  test("a failed install is one sentence and the next step", async () => {
    checkout.setLock({ "node_modules/a": { version: "2.0.0" } });
    const { code, stderr } = await run(["start"], { NPM_FAILS: "1" }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/npm ci failed\. \(7\)\n.*online/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe("npm start", () => {
  test("prints the URL and the one-time password once all is steady", async () => {
    const running = run(["start"]);
    await running.seen(/Owl is ready/);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("http://localhost:8123");
    expect(stdout).not.toContain("one-time");
  });

  test("the password comes from the home, unless a person has set one", async () => {
    const fresh = run(["start"]);
    await fresh.seen(/Owl is ready/);
    fresh.child.kill("SIGINT");
    await fresh.ended;
    writeFileSync(join(checkout.home, "initial-admin-password"), "s3cret-once\n");
    for (const [env, expected] of [
      [{}, true],
      [{ OWL_ADMIN_PASSWORD: "mine" }, false],
    ] as const) {
      const running = run(["start"], env);
      await running.seen(/Stop: Ctrl-C/);
      running.child.kill("SIGINT");
      expect((await running.ended).stdout.includes("s3cret-once")).toBe(expected);
    }
  });

  test("another owld that answers on this home is not announced as ours", async () => {
    const running = run(["start"], { STAND_IN_PID: "1" });
    await expect.poll(() => checkout.notes()).toContain("listening");
    running.child.kill("SIGINT");
    expect((await running.ended).stdout).not.toContain("Owl is ready");
  });

  test("owld's exit code is its own", async () => {
    expect((await run(["start"], { STAND_IN_EXIT: "78" }).ended).code).toBe(78);
  });

  test("exit code 75 starts it again, and Ctrl-C then still ends it", async () => {
    const running = run(["start"]);
    await running.seen(/Owl is ready/);
    await new Promise<void>((resolve) => {
      const call = request({ socketPath: join(checkout.home, "run/control.sock"), path: "/exit-75" });
      call.on("error", () => resolve()).on("close", () => resolve());
      call.end();
    });
    await running.seen(/starts again/);
    await expect.poll(() => checkout.notes().filter((note) => note === "listening").length).toBe(2);
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(0);
  });

  test("the two signals of one Ctrl-C reach owld once", async () => {
    const running = run(["start"], { STAND_IN_STUBBORN: "1" });
    await running.seen(/Owl is ready/);
    running.child.kill("SIGINT");
    running.child.kill("SIGINT");
    await running.seen(/stopping in order/);
    await expect.poll(() => checkout.notes().filter((note) => note === "SIGINT").length).toBe(1);
    running.child.kill("SIGTERM");
    // A second one of a person's, later, goes through and is said.
    const again = setInterval(() => running.child.kill("SIGINT"), 200);
    await running.seen(/killing everything/).finally(() => clearInterval(again));
    expect((await running.ended).code).toBe(0);
  });
});

test("an unknown word is wrong use", async () => {
  const { code, stderr } = await run(["strat"]).ended;
  expect(code).toBe(2);
  expect(stderr).toContain("start, dev, test");
});
