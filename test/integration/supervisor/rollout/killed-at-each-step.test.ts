// owld is killed right after each write of a rollout in turn; the next one must carry the rollout on to its end, with
// no process left over, never none ready (every request is answered) and never more than replicas + surge alive.

import { get } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { Rollout } from "../../../../config/control-api.ts";
import { systemClock } from "../../../../config/system-time.ts";
import { createOwldHome, type OwldHome, program } from "../../../support/owld.ts";

const YAML = `
stop: {grace: 5s}
turn: {finish: 1s, wrapUp: 1s}
rollout: {healthTimeout: 10s}
services:
  web:
    command: ["${process.execPath}", "${program("small-web.ts")}"]
    replicas: 1
    health: {http: /}
    routes: [{path: "/"}]
`;
/** Homes side by side: each run waits for processes most of the time. */
const WIDTH = 4;
/** Between two requests: the processes under test need the machine more than their witness. */
const PAUSE_MS = 15;

const homes = new Set<OwldHome>();
afterEach(async () => {
  await Promise.all([...homes].map((home) => home.cleanUp()));
  homes.clear();
});

test("a rollout killed after any of its writes is carried on by the next owld", async () => {
  let step = 1;
  let finished = false;
  while (!finished) {
    const steps = Array.from({ length: WIDTH }, () => step++);
    const killed = await Promise.all(steps.map(killAndCarryOn));
    finished = killed.includes(false);
    // More writes than a rollout of one instance can have: the count would never end.
    expect(step).toBeLessThan(200);
  }
  // Start, ready, route, drain and stop of one instance take many writes: the test must have seen them.
  expect(step).toBeGreaterThan(20);
}, 600_000);

/** True when owld was killed before its rollout had ended. */
async function killAndCarryOn(step: number): Promise<boolean> {
  const home = await createOwldHome(YAML);
  homes.add(home);
  const first = home.start({ OWL_TEST_KILL_AT: String(step) }, program("kill-at-write.ts"));
  const [old] = (await first.until((status) => status.state === "steady")).services[0]?.instances ?? [];
  const witness = observe(home);
  // It may die before it can answer.
  const asked = first.ask<Rollout>("POST", "/v1/rollouts", { kind: "restart" }).catch(() => null);
  const over = first.until((status) => status.rollout === null && status.services[0]?.instances[0]?.id !== old?.id);
  const died = await Promise.race([first.exited, over.then(() => null).catch(() => first.exited)]);
  await asked;
  if (died === null) {
    await witness.stop();
    await home.cleanUp();
    homes.delete(home);
    return false;
  }
  expect(died.signal).toBe("SIGKILL");

  const second = home.start();
  const settled = await second.until((status) => status.state === "steady" && status.rollout === null);
  const rollouts = (await second.ask<Rollout[]>("GET", "/v1/rollouts")).body;
  const seen = await witness.stop();
  const where = `step ${step}`;
  expect(
    rollouts.map(({ state }) => state),
    where,
  ).toEqual(rollouts.length === 0 ? [] : ["succeeded"]);
  const [now, ...more] = settled.services[0]?.instances ?? [];
  expect(more, where).toEqual([]);
  // Killed before the rollout was on record: nobody was told of it, so nothing is to be done.
  if (rollouts.length > 0) expect(now?.id, where).not.toBe(old?.id);
  else expect(now?.id, where).toBe(old?.id);
  expect(
    home
      .marked()
      .map(({ service }) => service)
      .sort(),
    where,
  ).toEqual(["proxy", "web"]);
  expect(seen.failed, where).toEqual([]);
  expect(seen.answered, where).toBeGreaterThan(0);
  expect(seen.most, where).toBeLessThanOrEqual(2);
  second.child.kill("SIGTERM");
  expect(await second.exited, where).toEqual({ code: 0, signal: null });
  expect(home.marked(), where).toEqual([]);
  await home.cleanUp();
  homes.delete(home);
  return true;
}

/** Asks through the proxy all the time and counts the web processes alive, until stopped. */
function observe(home: OwldHome) {
  const seen = { answered: 0, failed: [] as string[], most: 0 };
  let on = true;
  const loop = (async () => {
    while (on) {
      const answer = await ask(home.port);
      if (answer === "200") seen.answered++;
      else seen.failed.push(answer);
      seen.most = Math.max(seen.most, home.marked().filter(({ service }) => service === "web").length);
      await systemClock.sleep(PAUSE_MS);
    }
  })();
  return {
    async stop() {
      on = false;
      await loop;
      return seen;
    },
  };
}

function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    const asked = get({ host: "127.0.0.1", port, path: "/", agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(String(response.statusCode)));
      response.on("error", (error) => resolve(error.message));
    });
    asked.on("error", (error) => resolve(error.message));
  });
}
