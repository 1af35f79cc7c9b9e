// Changes of a team's own code that turn out bad: under load they cost next to nothing, the old ones are back by
// themselves, and what was refused never comes into force behind anyone's back.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Changed, Rollout, Status } from "../../../../config/control-api.ts";
import { steadyLoad } from "../../../support/load.ts";
import { createOwldHome, type Owld, type OwldHome, program } from "../../../support/owld.ts";
import { poll } from "../../../support/poll.ts";

type Env = Readonly<Record<string, string>>;

const yaml = (env: Env, command = `["${process.execPath}", "${program("turns-bad.ts")}"]`, more = ""): string => `
stop: {grace: 3s}
turn: {finish: 1s, wrapUp: 1s}
rollout: {confirm: 4s, healthTimeout: 10s}
services:
  web: {command: ${command}, replicas: 2, health: {http: /healthz}, routes: [{path: /}], env: ${JSON.stringify(env)}}
  jobs: {command: ${command}, replicas: 1, listen: socket, env: {SAYS: jobs}}
${more}`;

/** On an address of the machine that the test itself holds. */
const LISTENS = "require('node:net').createServer().listen(process.env.HELD)";

let home: OwldHome;
let owld: Owld;

beforeAll(async () => {
  home = await createOwldHome(yaml({}));
  owld = home.start();
  await owld.until(({ state }) => state === "steady");
});
afterAll(async () => await home.cleanUp());

async function reload(text: string): Promise<Rollout | null> {
  home.write(text);
  const { body } = await owld.ask<Changed>("POST", "/v1/reload");
  const id = body.rollout?.id ?? null;
  if (id === null) return null;
  let last: Rollout | null = null;
  await poll(async () => {
    last = (await owld.ask<Rollout>("GET", `/v1/rollouts/${id}`)).body;
    return last.state !== "running";
  });
  return last;
}

const web = (status: Status) => status.services.find(({ name }) => name === "web");
const ids = (status: Status) => web(status)?.instances.map(({ id }) => id);

test.each<[string, Env, RegExp, string?]>([
  ["exits 1 s after its start", { BAD: "exit", BAD_MS: "1000" }, /ended .*exit code 3/],
  ["exits 3.5 s after its start", { BAD: "exit", BAD_MS: "3500" }, /ended .* after it was ready \(exit code 3\)/],
  ["answers one in ten with 500", { BAD: "errors", BAD_MS: "0" }, /answers of the new instances are 5xx/],
  ["breaks its answers off", { BAD: "breaksOff", BAD_MS: "0" }, /answers of the new instances are 5xx/],
  ["never answers but its check", { BAD: "silent", BAD_MS: "2500" }, /answered nobody for \d+ ms/],
  ["accepts and closes", { BAD: "closes" }, /not ready within .*(socket hang up|ECONNRESET|closed)/],
  ["speaks no HTTP", { BAD: "noHttp" }, /not ready within/],
  ["is slow", { BAD: "slow", BAD_MS: "500" }, /at the 95th percentile/],
  [
    "fails its health check",
    { BAD: "unhealthy", BAD_MS: "2500" },
    /failed its health checks|was not ready within .* HTTP 500/,
  ],
  ["never listens", { BAD: "never" }, /not ready within/],
  ["cannot be loaded", { NODE_OPTIONS: "--require /nonexistent.js" }, /ended before it was ready/],
  ["hangs for ever", { BAD: "deadlock", BAD_MS: "2000" }, /failed its (health )?checks|no answer within/],
  ["is a file that does not exist", {}, /ended before it was ready/, `["${process.execPath}", "/nonexistent.js"]`],
  [
    "wants a port that is held",
    { HELD: "$PORT" },
    /ended before it was ready/,
    `["${process.execPath}", "-e", "${LISTENS}"]`,
  ],
])("a change that %s is taken back by itself", async (_, env, reason, command) => {
  const before = ids(await owld.status());
  // Slow and missing answers are judged only when there are enough of them.
  const clients = steadyLoad(home.port, undefined, ["slow", "silent"].includes(env.BAD ?? "") ? 16 : 4);
  const held = env.HELD === undefined ? env : { HELD: String(home.port) };
  const rollout = await reload(yaml({ ...held, LATELY: String(reason) }, command));
  const { sent, failed } = await clients.stop();
  expect(rollout).toMatchObject({ state: "failed", reason: expect.stringMatching(reason) });
  // Requests in flight in a process that exits are lost with it; all others find one that answers.
  expect(failed).toBeLessThanOrEqual(Math.max(16, sent / 1_000));
  const after = await owld.until((status) => status.state === "steady" && web(status)?.instances.length === 2);
  expect(ids(after)).toEqual(before);
  expect(after.warnings).toContainEqual(expect.stringMatching(/owl\.yaml is not in force: r-\d+ did not succeed/));
});

test("a change that ends by itself after it stood is gone back from, and that is said", async () => {
  home.write(yaml({ BAD: "exit", BAD_MS: "7000" }));
  const { body } = await owld.ask<Changed>("POST", "/v1/reload");
  const said = /r-\d+ had stood, then every instance of web ended by itself .*exit code 3/;
  const after = await owld.until(
    (now) => now.state === "steady" && now.rollout === null && now.warnings.some((one) => said.test(one)),
  );
  expect((await owld.ask<Rollout>("GET", `/v1/rollouts/${body.rollout?.id}`)).body.state).toBe("succeeded");
  expect(web(after)).toMatchObject({ ready: 2 });
  const { body: rollouts } = await owld.ask<readonly Rollout[]>("GET", "/v1/rollouts");
  expect(rollouts[0]).toMatchObject({ kind: "rollback", state: "succeeded", notes: [expect.stringMatching(said)] });
});

test.each<[string, string, string, RegExp]>([
  ["a program that is not there", "preflight.failed", "", /no program \/nonexistent/],
  ["a user that is not there", "config.invalid", "user: nosuchuser, ", /no user nosuchuser/],
  ["a file of variables that is not there", "config.invalid", "envFile: /nonexistent, ", /cannot read \/nonexistent/],
  ["a directory that is not there", "config.invalid", "cwd: /nonexistent, ", /no directory \/nonexistent/],
])("%s is refused before any process is touched", async (_, code, more, reason) => {
  const before = ids(await owld.status());
  const good = yaml({ LATELY: code + more });
  home.write(
    more === "" ? good.replace(process.execPath, "/nonexistent") : good.replace("{command", `{${more}command`),
  );
  const { status, body } = await owld.ask<{ code: string; detail: string }>("POST", "/v1/reload");
  expect({ refused: status >= 400, code: body.code }).toEqual({ refused: true, code });
  const after = await owld.status();
  expect(ids(after)).toEqual(before);
  expect(after.warnings.join("\n")).toMatch(reason);
});

test("a crash after a refused change comes back by what served before, also under the next owld", async () => {
  owld.child.kill("SIGKILL");
  await owld.exited;
  owld = home.start();
  const status = await owld.until((now) => now.state === "steady");
  const [first] = web(status)?.instances ?? [];
  process.kill(first?.pid ?? 0, "SIGKILL");
  const after = await owld.until((now) => now.state === "steady" && ids(now)?.includes(first?.id ?? "") === false);
  expect(web(after)).toMatchObject({ ready: 2, crashLooping: false });
  expect(after.warnings).toContainEqual(expect.stringMatching(/owl\.yaml is not in force/));
});

test("owld killed while the new ones stand: the next one goes on, and takes them back when they turn bad", async () => {
  const before = ids(await owld.status());
  home.write(yaml({ BAD: "exit", BAD_MS: "3500", AGAIN: "1" }));
  const { body } = await owld.ask<Changed>("POST", "/v1/reload");
  await owld.until((status) => web(status)?.instances.filter(({ state }) => state === "ready").length === 4);
  expect((await owld.ask<{ code: string }>("POST", "/v1/reload")).body.code).toBe("rollout.busy");
  const fresh = web(await owld.status())?.instances.filter(({ id }) => !before?.includes(id)) ?? [];
  owld.child.kill("SIGKILL");
  await owld.exited;
  await poll(() => !home.marked().some(({ instance }) => fresh.some(({ id }) => id === instance)));
  // Nobody has told the proxy: it turns to those set aside.
  for (let n = 0; n < 20; n++) expect((await fetch(`http://127.0.0.1:${home.port}/`)).status).toBe(200);
  owld = home.start();
  await owld.until(({ rollout, state }) => rollout === null && state === "steady");
  const rollout = (await owld.ask<Rollout>("GET", `/v1/rollouts/${body.rollout?.id}`)).body;
  expect(rollout.state).toBe("failed");
  expect(ids(await owld.status())).toEqual(before);
});

test("a corrected change stands, comes into force and ends the warning", async () => {
  const before = ids(await owld.status());
  expect(await reload(yaml({ SAYS: "better" }))).toMatchObject({ state: "succeeded" });
  const after = await owld.until(({ state }) => state === "steady");
  expect(after.warnings).toEqual([]);
  expect(ids(after)?.some((id) => before?.includes(id))).toBe(false);
});

test("a service of files alone has them served as soon as it is there, and what it serves is told", async () => {
  await reload(yaml({ SAYS: "better" }, undefined, `  site: {routes: [{path: /site, files: ., cache: 1h}]}`));
  const answer = await fetch(`http://127.0.0.1:${home.port}/site/owl.yaml`);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "public, max-age=3600"]);
  expect(await answer.text()).toContain("site: {routes");
  expect((await owld.status()).state).toBe("steady");
});

test("a service with a schedule runs when it is told to, outlives owld and ends when it is told to", async () => {
  const nightly = (script: string): string =>
    yaml({ SAYS: "better" }, undefined, `  nightly: {command: [sh, -c, "${script}"], schedule: {cron: "0 3 1 1 *"}}`);
  const stand = (status: Status) => status.services.find(({ name }) => name === "nightly")?.schedule;
  await reload(nightly("echo $OWL_SERVICE; exit 4"));
  const lines = await owld.lines("POST", "/v1/run", { target: "nightly", command: [] });
  expect(lines).toEqual([{ stream: "stdout", text: "nightly\n" }, { exit: { code: 4, signal: null, cause: null } }]);
  const failed = await owld.status();
  expect(failed).toMatchObject({ state: "steady", warnings: [expect.stringMatching(/nightly did not succeed/)] });
  expect(stand(failed)).toMatchObject({ running: null, last: { id: "nightly-1", outcome: "failed" } });

  await reload(nightly("sleep 1000"));
  // Whoever listens is cut off with owld; the run goes on.
  const listening = owld.lines("POST", "/v1/run", { target: "nightly", command: [] }).catch(() => null);
  const before = await owld.until((status) => (stand(status)?.running?.pid ?? null) !== null);
  owld.child.kill("SIGKILL");
  await Promise.all([owld.exited, listening]);
  owld = home.start();
  const after = await owld.until(({ state }) => state === "steady");
  expect(stand(after)?.running).toEqual(stand(before)?.running);
  expect((await owld.ask<{ code: string }>("POST", "/v1/scale", { nightly: 2 })).body.code).toBe("run.timed");
  await owld.ask("POST", "/v1/instances/nightly-2/stop");
  const ended = await owld.until((status) => stand(status)?.running === null);
  expect(stand(ended)?.last?.how).toMatch(/stopped by an operator/);
});
