// A team's own code deployed by a real owld while clients ask: good, bad at once and bad later, cut by a kill, taken back.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rollout, RolloutPlan, Status } from "../../../../config/control-api.ts";
import type { DeployRequest, ListedRelease } from "../../../../config/deploy-api.ts";
import { steadyLoad } from "../../../support/load.ts";
import { createOwldHome, type Owld, type OwldHome } from "../../../support/owld.ts";
import { poll } from "../../../support/poll.ts";

const NODE = JSON.stringify(process.execPath);
const YAML = `
stop: {grace: 3s}
turn: {finish: 1s, wrapUp: 1s}
rollout: {confirm: 4s, healthTimeout: 10s}
deploy: {keep: 2, shareFor: 6s}
services:
  web:
    command: [${NODE}, server.mjs]
    source: app
    before: [[${NODE}, before.mjs]]
    replicas: 2
    routes: [{path: /}, {path: /assets, files: ., cache: 1h}]
`;

let home: OwldHome;
let owld: Owld;

beforeAll(async () => {
  home = await createOwldHome(YAML);
  writeApp("app", "first");
  owld = home.start();
  await owld.until(({ state }) => state === "steady");
});
afterAll(async () => await home.cleanUp());

/** An application that answers with `says` and its release; `bad` is run in it, `before` before it. */
function writeApp(name: string, says: string, bad = "", before = `console.log("prepared")`): string {
  const folder = join(home.home, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "before.mjs"), before);
  for (const ending of ["css", "html"]) writeFileSync(join(folder, `${says}.${ending}`), says);
  writeFileSync(
    join(folder, "server.mjs"),
    `import { createServer } from "node:http";
    let answers = 0;
    const answer = (response) => response.end("${says} " + process.env.OWL_RELEASE);
    const server = createServer((request, response) => { answers++; ${bad}; answer(response); });
    server.listen(process.env.OWL_SOCKET);
    process.on("SIGTERM", () => { server.close(() => process.exit(0)); server.closeIdleConnections(); });`,
  );
  return folder;
}

async function begin(request: DeployRequest): Promise<Rollout> {
  const { status, body } = await owld.ask<Rollout>("POST", "/v1/deploys", request);
  expect(status, JSON.stringify(body)).toBe(202);
  return body;
}

async function ended(id: string): Promise<Rollout> {
  let last: Rollout | null = null;
  await poll(async () => {
    last = (await owld.ask<Rollout>("GET", `/v1/rollouts/${id}`)).body;
    return last.state !== "running";
  });
  if (last === null) throw new Error("no rollout");
  return last;
}

const deploy = async (request: DeployRequest): Promise<Rollout> => await ended((await begin(request)).id);
const releases = async () => (await owld.ask<ListedRelease[]>("GET", "/v1/deploys")).body;
const web = (status: Status) => status.services.find(({ name }) => name === "web");
const ids = (status: Status) => web(status)?.instances.map(({ id }) => id);
const asset = async (name: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${home.port}/assets/${name}`)).status;
const says = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${home.port}/`)).text();

test("what is deployed serves from its release, and no client notices", async () => {
  const path = writeApp("second", "second");
  const clients = steadyLoad(home.port);
  const plan = (await owld.ask<RolloutPlan>("POST", "/v1/deploys/plan", { path })).body;
  expect(plan.steps.map(({ action }) => action).slice(0, 3)).toEqual(["copy", "before", "start"]);
  expect(await deploy({ services: ["web"], path })).toMatchObject({ kind: "deploy", state: "succeeded" });
  expect((await clients.stop()).failed).toBe(0);
  expect(await says()).toBe("second 1");
  expect(web(await owld.status())).toMatchObject({ release: "1", ready: 2 });
  expect(await owld.text("/v1/logs?target=owl.before-1")).toContain("prepared");
});

test("a release that exits 3.5 s after it was ready is taken back by itself", async () => {
  const path = writeApp("exits", "exits", "", "");
  writeFileSync(join(path, "late.mjs"), "");
  writeApp("exits", "exits", "globalThis.ends ??= 1");
  writeFileSync(join(path, "server.mjs"), `setTimeout(() => process.exit(3), 3500); await import("./serves.mjs");`);
  writeFileSync(
    join(path, "serves.mjs"),
    `import { createServer } from "node:http";
    createServer((_, response) => response.end("exits")).listen(process.env.OWL_SOCKET);`,
  );
  const before = ids(await owld.status());
  const clients = steadyLoad(home.port);
  const rollout = await deploy({ services: ["web"], path });
  const { sent, failed } = await clients.stop();
  expect(rollout).toMatchObject({ state: "failed", reason: expect.stringMatching(/exit code 3/) });
  expect(failed).toBeLessThanOrEqual(Math.max(8, sent / 1_000));
  const after = await owld.until(({ state }) => state === "steady");
  expect(ids(after)).toEqual(before);
  expect(web(after)?.release).toBe("1");
  expect(after.warnings).toEqual([]);
});

test("a command of `before` that fails changes nothing, and says why", async () => {
  const path = writeApp("unbuilt", "unbuilt", "", `console.error("no such table"); process.exit(2)`);
  const before = ids(await owld.status());
  const rollout = await deploy({ path });
  expect(rollout.state).toBe("failed");
  expect(rollout.reason).toMatch(/before\.mjs` failed \(exit code 2\), so nothing was changed\.\nno such table/);
  expect(ids(await owld.status())).toEqual(before);
  expect((await releases()).map(({ id }) => id)).toEqual(["2", "1"]);
});

test("owld killed while `before` runs: the next one says so, nothing is changed, crashes come back by what stood", async () => {
  const path = writeApp("cut", "cut", "", `console.log("busy"); setInterval(() => {}, 1000)`);
  const { id } = await begin({ path });
  await poll(async () => (await owld.text(`/v1/logs?target=owl.before-4`)).includes("busy"));
  owld.child.kill("SIGKILL");
  await owld.exited;
  owld = home.start();
  await owld.until(() => true);
  expect(await ended(id)).toMatchObject({ state: "failed", reason: expect.stringContaining("nothing was changed") });
  await poll(() => !existsSync(join(home.home, "own-releases/4")));
  expect(home.marked().some(({ instance }) => instance.startsWith("owl.before-"))).toBe(false);
  const [first] = web(await owld.until(({ state }) => state === "steady"))?.instances ?? [];
  process.kill(first?.pid ?? 0, "SIGKILL");
  await owld.until((now) => now.state === "steady" && ids(now)?.includes(first?.id ?? "") === false);
  expect(new Set([await says(), await says()])).toEqual(new Set(["second 1"]));
});

test("with a share one client in ten gets the new release and stays with it; too many 5xx take it back", async () => {
  const answers = { second: 0, bad: 0 };
  const clients = steadyLoad(home.port, (text) => {
    answers[text.startsWith("bad") ? "bad" : "second"]++;
  });
  const path = writeApp("bad", "bad", "if (answers % 10 === 0) response.statusCode = 500");
  const rollout = await deploy({ path, share: 0.1 });
  const { sent, failed } = await clients.stop();
  expect(rollout).toMatchObject({ state: "failed", reason: expect.stringMatching(/answers of the new .* are 5xx/) });
  expect(answers.bad).toBeGreaterThan(0);
  expect(answers.bad).toBeLessThan(sent / 4);
  expect(failed).toBeLessThan(sent / 50);
  await owld.until(({ state }) => state === "steady");
  expect(await says()).toBe("second 1");
});

test("a share that stands goes on to everybody; a client keeps its side meanwhile", async () => {
  const { id } = await begin({ path: writeApp("good", "good"), share: 0.5 });
  const jar = new Map<string, string>();
  await poll(async () => {
    const response = await fetch(`http://127.0.0.1:${home.port}/`);
    const cookie = response.headers.get("set-cookie")?.split(";")[0];
    if (cookie !== undefined) jar.set((await response.text()).split(" ")[0] ?? "", cookie);
    return jar.size === 2;
  });
  for (const [side, cookie] of jar) {
    const asked = await fetch(`http://127.0.0.1:${home.port}/`, { headers: { cookie } });
    expect([await asked.text(), asked.headers.get("set-cookie")]).toEqual([expect.stringContaining(side), null]);
  }
  expect(await ended(id)).toMatchObject({ state: "succeeded" });
  expect(await says()).toBe("good 6");
  // Pages of the release before it may still be open, also when owld is another one.
  owld.child.kill("SIGKILL");
  await owld.exited;
  owld = home.start();
  await owld.until(({ state }) => state === "steady");
  expect([await asset("good.css"), await asset("good.html")]).toEqual([200, 200]);
  await poll(async () => (await asset("second.css")) === 200);
  expect([await asset("second.html"), await asset("first.css"), await asset("none.css")]).toEqual([404, 404, 404]);
});

test("a program runs once in the release's environment, and its end is told", async () => {
  const asked = await owld.ask<unknown>("POST", "/v1/run", { target: "jobs", command: ["true"] });
  expect(asked.status).toBe(404);
  const response = await owld.lines("POST", "/v1/run", {
    target: "web",
    command: ["sh", "-c", "echo $OWL_RELEASE; exit 7"],
  });
  expect(response).toEqual([{ stream: "stdout", text: "6\n" }, { exit: { code: 7, signal: null, cause: null } }]);
});

test("rollback goes to the one that stood before, and only so many are kept", async () => {
  expect(await deploy({ services: ["web"], release: "before" })).toMatchObject({
    kind: "rollback",
    state: "succeeded",
  });
  expect(await says()).toBe("second 1");
  expect(await deploy({ services: ["web"], release: "before" })).toMatchObject({ state: "succeeded" });
  expect(await says()).toMatch(/^first \d+\.\d+/);
  await poll(() => readdirSync(join(home.home, "own-releases")).sort().join() === "5,6");
  expect((await releases()).map(({ id }) => id)).toEqual(["6", "5"]);
  const again = await owld.ask<{ code: string }>("POST", "/v1/deploys", { services: ["web"], release: "1" });
  expect(again.body.code).toBe("deploy.noRelease");
});

test("the first release brings a service up that has no code before it; one without its program changes nothing", async () => {
  const bare = await createOwldHome(`
stop: {grace: 3s}
turn: {finish: 1s, wrapUp: 1s}
rollout: {confirm: 1s}
services:
  web: {command: [./start, server.mjs], source: app, routes: [{path: /}]}
`);
  try {
    mkdirSync(join(bare.home, "app"));
    const other = bare.start();
    await other.until((status) => web(status)?.restarts !== 0 && web(status)?.ready === 0);
    const run = async (path: string): Promise<Rollout | undefined> => {
      const { id } = (await other.ask<Rollout>("POST", "/v1/deploys", { services: ["web"], path })).body;
      const isOver = async () => (await other.ask<Rollout>("GET", `/v1/rollouts/${id}`)).body.state !== "running";
      await poll(isOver);
      return (await other.ask<Rollout>("GET", `/v1/rollouts/${id}`)).body;
    };
    const path = writeApp("started", "started");
    const reason = expect.stringMatching(/there is no program \.\/start.*Nothing was changed/);
    expect(await run(path)).toMatchObject({ state: "failed", reason });
    writeFileSync(join(path, "start"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
    expect(await run(path)).toMatchObject({ state: "succeeded" });
    expect(web(await other.status())).toMatchObject({ ready: 2 });
  } finally {
    await bare.cleanUp();
  }
});
