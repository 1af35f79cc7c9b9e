// What befalls an owld and its machine: a reboot, a state file of a newer version, too much memory, impatience.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import type { OwlEvent, Status } from "../../../../config/control-api.ts";
import { createOwldHome, type Owld, type OwldHome, program } from "../../../support/owld.ts";
import { poll } from "../../../support/poll.ts";

const yaml = (grace: string, more: string): string => `
stop: {grace: ${grace}}
turn: {finish: 100ms, wrapUp: 100ms}
rollout: {healthTimeout: 30s}
services:
  deaf: {command: ["${process.execPath}", "${program("ignores-sigterm.ts")}"], listen: socket, ${more}}
`;

const homes: OwldHome[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.cleanUp();
});

async function begin(text: string): Promise<{ home: OwldHome; owld: Owld; status: Status }> {
  const home = await createOwldHome(text);
  homes.push(home);
  const owld = home.start();
  return { home, owld, status: await owld.until(({ state }) => state === "steady") };
}

async function events(owld: Owld): Promise<OwlEvent[]> {
  const lines = (await owld.text("/v1/events?limit=500")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as OwlEvent);
}

const pids = (status: Status) => status.services[0]?.instances.map(({ pid }) => pid);

/** Changes the state file of an owld that is no more. */
function edit(home: OwldHome, sql: string): void {
  const database = new DatabaseSync(join(home.home, "state", "owl.sqlite"));
  database.exec(sql);
  database.close();
}

test("after a reboot everything is started anew, as no crash of anybody", async () => {
  const { home, owld } = await begin(yaml("500ms", "replicas: 2"));
  owld.child.kill("SIGKILL");
  await owld.exited;
  await poll(() => {
    for (const { identity } of home.marked()) process.kill(identity.pid, "SIGKILL");
    return home.marked().length === 0;
  });
  const { bootId } = (await import("../../../../supervisor/process/proc-identity.ts")).createProcReader();
  for (const table of ["instance", "proxy", "rollout"]) {
    edit(home, `UPDATE ${table} SET doc = replace(doc, '${bootId}', '00000000-0000-4000-8000-000000000000')`);
  }
  const next = home.start();
  const after = await next.until(({ state }) => state === "steady");
  expect(after.services[0]?.instances.map(({ id, restarts }) => [id, restarts])).toEqual([
    ["deaf-3", 0],
    ["deaf-4", 0],
  ]);
  expect((await events(next)).map(({ type }) => type)).not.toContain("instance.crashed");
}, 120_000);

test("a state file of a newer version is kept aside, and what runs is adopted by its marks", async () => {
  const { home, owld, status } = await begin(yaml("500ms", "replicas: 1"));
  owld.child.kill("SIGKILL");
  await owld.exited;
  edit(home, "PRAGMA user_version = 99");
  const after = await home.start().until(({ state }) => state === "steady");
  expect(pids(after)).toEqual(pids(status));
  expect(after.warnings.join(" ")).toContain("newer version");
}, 120_000);

test("an instance over its memory limit is replaced new first", async () => {
  const { owld } = await begin(yaml("500ms", "replicas: 1, memory: {limit: 8MiB}"));
  await poll(async () =>
    (await events(owld)).some(({ type, instance }) => type === "instance.leaving" && instance === "deaf-1"),
  );
  const seen = (await events(owld)).map(({ type, instance }) => `${type} ${instance}`);
  const places = ["instance.overMemory deaf-1", "instance.ready deaf-2", "instance.leaving deaf-1"].map((one) =>
    seen.indexOf(one),
  );
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}, 120_000);

test("SIGHUP reads the configuration again and stops nothing", async () => {
  const { home, owld, status } = await begin(yaml("500ms", "replicas: 1"));
  home.write(yaml("500ms", "replicas: 2"));
  owld.child.kill("SIGHUP");
  const after = await owld.until(({ state, services }) => state === "steady" && services[0]?.ready === 2);
  expect(pids(after)?.[0]).toBe(pids(status)?.[0]);
}, 120_000);

test("a second Ctrl-C kills what drains, and says so", async () => {
  const { home, owld } = await begin(yaml("10m", "replicas: 1"));
  let over = false;
  void owld.exited.then(() => {
    over = true;
  });
  await poll(() => {
    if (!over) owld.child.kill("SIGINT");
    return over;
  });
  expect(home.log()).toContain("Second Ctrl-C");
  expect(home.marked()).toEqual([]);
}, 120_000);
