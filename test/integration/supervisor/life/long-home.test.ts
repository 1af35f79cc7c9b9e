// Homes with long names: a Unix socket's path holds 107 bytes. As long as the names of a configuration fit, everything is
// found where OWL_HOME says; past that the start is refused before anything is made.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Status } from "../../../../config/control-api.ts";
import { homePaths } from "../../../../config/home.ts";
import { createOwldHome, type OwldHome, program } from "../../../support/owld.ts";

const ROOT = new URL("../../../..", import.meta.url).pathname;
const YAML = `
stop: {grace: 2s}
turn: {finish: 100ms, wrapUp: 100ms}
services:
  one: {command: ["${process.execPath}", "${program("small-web.ts")}"], health: {http: /}, replicas: 1, routes: [{path: "/"}]}
`;

let base: string;
let small: OwldHome;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "owl-long-"));
});
afterEach(async () => {
  await small?.cleanUp();
  rmSync(base, { recursive: true, force: true });
});

/** A home below `base` where the longest name of an instance's socket would make a path of that many bytes. */
function homeFor(bytes: number): string {
  const spare = bytes - Buffer.byteLength(join(homePaths(join(base, "x")).run, "one-99999.sock"));
  return join(base, `x${"y".repeat(spare)}`);
}

function ctl(home: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const env = { PATH: process.env.PATH ?? "", OWL_HOME: home, OWL_LANG: "en" };
  return new Promise((resolve) => {
    execFile(join(ROOT, "ctl/owlctl"), ["status", "--json"], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

test("with paths of just 107 bytes owld, its services and owlctl find each other", async () => {
  const home = homeFor(107);
  mkdirSync(home);
  small = await createOwldHome(YAML, home);
  // The short place is made where temporary files go.
  const owld = small.start({ TMPDIR: base });
  await owld.until(({ state }) => state === "steady");
  const { code, out, err } = await ctl(home);
  expect([code, err]).toEqual([0, ""]);
  expect((JSON.parse(out) as Status).pid).toBe(owld.child.pid);
  // A proxy's name grows longer than an instance's may, sooner or later.
  expect(readdirSync(join(home, "run")).filter((name) => name.endsWith(".sock"))).toEqual(["control.sock"]);
  const answer = await fetch(`http://127.0.0.1:${small.port}/`);
  expect([answer.status, await answer.text()]).toEqual([200, "one-1"]);
  owld.child.kill("SIGKILL");
  await owld.exited;
  // The next one finds the services at the short place of before.
  const next = small.start({ TMPDIR: base });
  const after = await next.until(({ state }) => state === "steady");
  expect(after.services[0]?.instances.map(({ id }) => id)).toEqual(["one-1"]);
  expect((await fetch(`http://127.0.0.1:${small.port}/`)).status).toBe(200);
  next.child.kill("SIGTERM");
  expect(await next.exited).toEqual({ code: 0, signal: null });
});

test("one byte more is refused with the length to take away, and nothing is made; owlctl says that owld is away", async () => {
  const home = homeFor(108);
  small = await createOwldHome(YAML);
  const owld = small.start({ OWL_HOME: home });
  expect(await owld.exited).toEqual({ code: 78, signal: null });
  expect(small.log()).toMatch(/choose an OWL_HOME that is 1 bytes? shorter/);
  expect(existsSync(home)).toBe(false);
  const { code, err } = await ctl(home);
  expect(code).toBe(3);
  expect(err).toContain("owld is not reachable");
});
