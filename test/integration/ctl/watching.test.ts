// Watching a rollout: it belongs to owld, so whatever happens to owlctl or to owld, the watching tells the truth.

import { afterEach, beforeEach, expect, test } from "vitest";
import {
  anEvent,
  aRollout,
  aStatus,
  type FakeOwld,
  problem,
  startFakeOwld,
  stream,
  theEnd,
} from "../../support/fake-owld.ts";
import { ctl, startCtl } from "../../support/owlctl.ts";

let owld: FakeOwld;
beforeEach(async () => {
  owld = await startFakeOwld();
  owld.on("GET /v1/status", aStatus());
  owld.on("POST /v1/rollouts", aRollout());
  owld.on("GET /v1/rollouts/r-12", aRollout());
});
afterEach(() => owld.close());

test("--json streams one object a line and ends with the rollout", async () => {
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "starting"), anEvent("web-9", "ready"), theEnd()]));
  const { code, stdout, stderr } = await ctl(owld.home, ["restart", "--json"]);
  expect(code).toBe(0);
  expect(stderr).toBe("");
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.event ?? line.state)).toEqual(["starting", "ready", "succeeded"]);
  expect(lines.at(-1)).toMatchObject({ rollout: "r-12", state: "succeeded" });
});

test("in a pipe: progress on standard error, the result with its ledger on standard output", async () => {
  const ledger = {
    requestsFailed: 0,
    retriedAtConnect: 3,
    drainedInFlight: 41,
    longestDrainMs: 12_400,
    streamsMoved: 0,
    jobsFinished: 2,
    jobsHandedBack: 0,
    jobsCut: 0,
    jobsReclaimed: 0,
    instancesKilled: 0,
  };
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "routed"), theEnd({ ledger })]));
  const { stdout, stderr } = await ctl(owld.home, ["restart"]);
  expect(stderr).toContain("web-9 routed");
  expect(stdout).toContain("restart r-12 succeeded after 8.0s");
  expect(stdout).toContain(
    "requests failed 0, retried at connect 3, drained in flight 41, longest drain 12.4s, jobs finished 2",
  );
});

test("a failed rollout is exit code 1 with its reason", async () => {
  owld.on(
    "GET /v1/rollouts/r-12/events",
    stream([
      anEvent("web-9", "failed"),
      theEnd({ state: "failed", reason: "web-9 exited (code 3)\nthe disk is on fire" }),
    ]),
  );
  const { code, stdout } = await ctl(owld.home, ["restart"]);
  expect(code).toBe(1);
  expect(stdout).toContain("the disk is on fire");
});

test("a second restart is refused with 4 and names the first", async () => {
  owld.on("POST /v1/rollouts", (_, response) =>
    problem(response, {
      status: 409,
      code: "rollout.busy",
      detail: "Rollout r-12 is running.",
      next: "Watch it: owlctl rollout watch r-12",
      data: { rollout: "r-12" },
    }),
  );
  const { code, stderr } = await ctl(owld.home, ["restart"]);
  expect(code).toBe(4);
  expect(stderr).toContain("r-12");
});

test("Ctrl-C ends the watching with 130 and says that the work goes on", async () => {
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "starting")], true));
  const running = startCtl(owld.home, ["restart"]);
  await running.seen(/web-9 starting/);
  running.child.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain("r-12 goes on");
  expect(owld.calls.some((one) => one.call.startsWith("DELETE"))).toBe(false);
});

test("--timeout passed is exit code 5, the work goes on", async () => {
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "starting")], true));
  const { code, stderr } = await ctl(owld.home, ["restart", "--timeout", "200ms"]);
  expect(code).toBe(5);
  expect(stderr).toContain("owlctl rollout watch r-12");
});

test("a daemon that is killed meanwhile is waited for; no event is shown twice", async () => {
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "starting"), anEvent("web-9", "ready")], true));
  const running = startCtl(owld.home, ["restart"]);
  await running.seen(/web-9 ready/);
  await owld.goAway();
  await running.seen(/owld is away/);
  owld.on(
    "GET /v1/rollouts/r-12/events",
    stream([anEvent("web-9", "starting"), anEvent("web-9", "ready"), anEvent("web-9", "routed"), theEnd()]),
  );
  await owld.comeBack();
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(stderr.match(/web-9 \w+/g)).toEqual(["web-9 starting", "web-9 ready", "web-9 routed"]);
  expect(stderr).toContain("owld is back");
});

test("--detach returns at once with the id", async () => {
  const { code, stdout } = await ctl(owld.home, ["restart", "--detach", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rollout: "r-12", state: "running" });
});

test("--wait serving returns when all new instances are routed, while old ones still drain", async () => {
  owld.on("GET /v1/rollouts/r-12/events", stream([anEvent("web-9", "routed")], true));
  const [start, stop] = aRollout().steps;
  if (start === undefined || stop === undefined) throw new Error("the sample has two steps");
  owld.on(
    "GET /v1/rollouts/r-12",
    aRollout({
      steps: [
        { ...start, state: "done" },
        { ...stop, state: "running" },
      ],
    }),
  );
  const { code, stdout } = await ctl(owld.home, ["restart", "--wait", "serving"]);
  expect(code).toBe(0);
  expect(stdout).toContain("serving; old instances still drain");
});

test("watch without an id watches the one that runs", async () => {
  owld.on("GET /v1/status", aStatus({ rollout: aRollout() }));
  owld.on("GET /v1/rollouts/r-12/events", stream([theEnd()]));
  expect((await ctl(owld.home, ["rollout", "watch"])).code).toBe(0);
});
