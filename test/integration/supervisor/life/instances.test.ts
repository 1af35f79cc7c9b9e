// Real programs under a real owld: crashes, grandchildren, deaf ones, reload, scale, stop, a damaged state file.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Changed, OwlEvent, Problem, Rollout, Status, Why } from "../../../../config/control-api.ts";
import { createOwldHome, type Owld, type OwldHome, program } from "../../../support/owld.ts";
import { poll } from "../../../support/poll.ts";

const NODE = process.execPath;
const HEAD = `
stop: {grace: 500ms}
turn: {finish: 100ms, wrapUp: 100ms}
rollout: {healthTimeout: 15s}
`;
/** One that ignores SIGTERM is up when it does, not when it has lived for a moment. */
const service = (name: string, file: string, more = "replicas: 1"): string => `
services:
  ${name}: {command: ["${NODE}", "${program(file)}"], ${file === "ignores-sigterm.ts" ? "listen: socket" : "listen: none, health: {uptime: 400ms}"}, ${more}}
`;

const homes: OwldHome[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.cleanUp();
});

async function begin(yaml: string): Promise<{ home: OwldHome; owld: Owld; status: Status }> {
  const home = await createOwldHome(yaml);
  homes.push(home);
  const owld = home.start();
  return { home, owld, status: await owld.until(({ state }) => state === "steady") };
}

const steadyWith = (ready: number) => (status: Status) =>
  status.state === "steady" && status.services[0]?.ready === ready && status.services[0].instances.length === ready;

async function eventTypes(owld: Owld): Promise<string[]> {
  const lines = await owld.text("/v1/events?limit=500");
  return lines
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as OwlEvent).type);
}

test("one that ignores SIGTERM has its whole grace and is killed, and the rollout says so", async () => {
  const { owld } = await begin(HEAD + service("deaf", "ignores-sigterm.ts"));
  const { body } = await owld.ask<Rollout>("POST", "/v1/rollouts", { kind: "restart" });
  await owld.until((status) => status.rollout === null);
  const ended = (await owld.ask<Rollout>("GET", `/v1/rollouts/${body.id}`)).body;
  expect(ended).toMatchObject({ state: "succeeded", ledger: { instancesKilled: 1 } });
}, 60_000);

test("a leader that goes by itself takes its group with it, and counts as stopped", async () => {
  const { home, owld } = await begin(HEAD + service("parent", "leaves-grandchild.ts"));
  const group = () => home.marked().filter(({ service: of }) => of === "parent");
  await poll(() => group().length > 1);
  const before = group();
  await owld.ask("POST", "/v1/rollouts", { kind: "restart" });
  await owld.until((status) => status.rollout === null && steadyWith(1)(status));
  await poll(() => before.every(({ identity }) => !home.marked().some((one) => one.identity.pid === identity.pid)));
  await poll(async () => (await eventTypes(owld)).includes("instance.stopped"));
}, 60_000);

test("what escaped from the group is found by its mark and told by pid", async () => {
  const { home, owld } = await begin(HEAD + service("escaper", "stays-with-escaped.ts"));
  // Ready by its time up, it may not have started anything yet; the proxy bears our mark as well.
  const escaped = () => home.marked().filter(({ service: of, leader }) => of === "escaper" && leader);
  await poll(() => escaped().length === 2);
  await owld.ask("POST", "/v1/rollouts", { kind: "restart" });
  await owld.until((status) => status.rollout === null);
  await poll(async () => (await eventTypes(owld)).includes("instance.leftOver"));
}, 60_000);

test("a killed instance is replaced, with a new number and its crash told", async () => {
  const { owld, status } = await begin(HEAD + service("deaf", "ignores-sigterm.ts", "replicas: 2"));
  const victim = status.services[0]?.instances[0];
  process.kill(victim?.pid ?? 0, "SIGKILL");
  const healed = await owld.until(
    (now) => steadyWith(2)(now) && !now.services[0]?.instances.some(({ id }) => id === victim?.id),
  );
  expect(healed.services[0]?.instances.map(({ id, restarts }) => [id, restarts])).toEqual([
    ["deaf-2", 0],
    ["deaf-3", 1],
  ]);
  expect(healed.services[0]?.instances[1]?.lastExit).toMatchObject({
    known: true,
    signal: "SIGKILL",
    outOfMemory: "no",
  });
}, 60_000);

test("scale, stop and start are kept over a kill -9 of owld; unknown names are answered with the nearest", async () => {
  const { home, owld } = await begin(HEAD + service("deaf", "ignores-sigterm.ts", "replicas: 1, stop: {grace: 1s}"));
  expect((await owld.ask<Changed>("POST", "/v1/scale", { deaf: 2 })).body).toMatchObject({ changed: true });
  await owld.until(steadyWith(2));
  const wrong = (await owld.ask<Problem>("POST", "/v1/scale", { def: 2 })).body;
  expect(wrong).toMatchObject({ code: "service.unknown", next: "Did you mean deaf?" });
  owld.child.kill("SIGKILL");
  await owld.exited;
  const next = home.start();
  await next.until(steadyWith(2));
  const why = (await next.ask<Why>("GET", "/v1/why/deaf")).body;
  expect(why.instances.map(({ id }) => id)).toEqual(["deaf-1", "deaf-2"]);
}, 60_000);

test("a state file that is damaged is kept aside, and the processes are adopted by their marks", async () => {
  const { home, owld, status } = await begin(HEAD + service("deaf", "ignores-sigterm.ts", "replicas: 2"));
  const pids = (now: Status) => now.services[0]?.instances.map(({ pid }) => pid);
  owld.child.kill("SIGKILL");
  await owld.exited;
  for (const file of ["owl.sqlite", "owl.sqlite-wal"]) {
    writeFileSync(join(home.home, "state", file), "damaged ".repeat(1_000));
  }
  const next = home.start();
  const after = await next.until(steadyWith(2));
  expect(pids(after)).toEqual(pids(status));
  expect(after.warnings.join(" ")).toMatch(/owl\.sqlite\.damaged-/);
}, 60_000);

test("a second owld on the same home is refused with the first one's pid, and changes nothing", async () => {
  const { home, owld, status } = await begin(HEAD + service("deaf", "ignores-sigterm.ts"));
  expect(await home.start().exited).toEqual({ code: 1, signal: null });
  expect(home.log()).toContain(`(pid ${status.pid})`);
  expect(home.log()).not.toMatch(/^\s+at /m);
  expect((await owld.status()).services).toMatchObject([{ ready: 1 }]);
}, 60_000);

test("a reload replaces only what changed", async () => {
  const two = (env: string): string => `${HEAD}
services:
  one: {command: ["${NODE}", "${program("ignores-sigterm.ts")}"], listen: none, health: {uptime: 300ms}, replicas: 1}
  two: {command: ["${NODE}", "${program("ignores-sigterm.ts")}"], listen: none, health: {uptime: 300ms}, replicas: 1, env: {LEVEL: "${env}"}}
`;
  const { home, owld } = await begin(two("1"));
  home.write(two("2"));
  const { body } = await owld.ask<Changed>("POST", "/v1/reload");
  expect(body.rollout).not.toBeNull();
  const after = await owld.until((status) => status.rollout === null && status.state === "steady");
  expect(after.services.map(({ instances }) => instances.map(({ id }) => id))).toEqual([["one-1"], ["two-2"]]);
}, 60_000);

test("a restart preflight fails for is refused before anything starts; what it warns of is a note and an event", async () => {
  const yaml = HEAD + service("deaf", "ignores-sigterm.ts");
  const { home, owld } = await begin(yaml);
  home.write(`${yaml}\nnonsense: true\n`);
  const refused = await owld.ask<Problem>("POST", "/v1/rollouts", { kind: "restart" });
  expect(refused).toMatchObject({ status: 409, body: { code: "preflight.failed" } });
  expect(refused.body.next).toContain("owlctl config check");
  expect((await owld.status()).services[0]?.instances.map(({ id }) => id)).toEqual(["deaf-1"]);
  expect((await owld.ask<Rollout[]>("GET", "/v1/rollouts")).body).toEqual([]);

  const shell = yaml.replace(`["${NODE}", "${program("ignores-sigterm.ts")}"]`, `["sh", "-c", "sleep 100; true"]`);
  home.write(shell);
  const { body } = await owld.ask<Changed>("POST", "/v1/reload");
  expect(body.rollout?.notes).toEqual([expect.stringMatching(/^commands: /), expect.stringMatching(/must stand 10 s/)]);
  expect(await eventTypes(owld)).toContain("preflight.warned");
}, 60_000);
