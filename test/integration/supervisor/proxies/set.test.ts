// The proxy set against the real proxy program: real sockets, real kill -9.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ProxyConfig } from "../../../../config/config.ts";
import { homePaths } from "../../../../config/home.ts";
import { systemClock } from "../../../../config/system-time.ts";
import type { Clock } from "../../../../config/time.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import type { ProxySet } from "../../../../supervisor/ports.ts";
import { createProcessTable } from "../../../../supervisor/process/group-signal.ts";
import { holdListener } from "../../../../supervisor/process/held-listeners.ts";
import { createProcReader } from "../../../../supervisor/process/proc-identity.ts";
import { createSpawner } from "../../../../supervisor/process/spawn.ts";
import { createProxySet, type ProxyNotice } from "../../../../supervisor/proxies/set.ts";
import { poll } from "../../../support/poll.ts";
import { proxyConfig } from "../../../support/proxy-config.ts";
import { createProxyRecords } from "../../../support/proxy-records.ts";
import { steadyPort } from "../../../support/steady-port.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

// The set asks its processes 4 times as often as in life, so that a hanging one is noticed in 2.5 seconds.
const quickClock: Clock = { ...systemClock, every: (ms, signal) => systemClock.every(ms / 4, signal) };

async function setup(
  changes: Partial<ProxyConfig> = {},
  clock: Clock = systemClock,
  listenFds: readonly number[] = [],
) {
  const home = mkdtempSync(join(tmpdir(), "owl-proxies-"));
  const paths = homePaths(home);
  mkdirSync(paths.run);
  const processes = createProcessTable();
  const records = createProxyRecords();
  const notices: ProxyNotice[] = [];
  const mark = `mark-${home}`;
  const create = (more: Partial<ProxyConfig> = {}, command?: readonly [string, ...string[]]): ProxySet => {
    const spawner = createSpawner({ clock: systemClock, table: processes });
    return createProxySet({
      record: en,
      clock,
      spawner,
      table: processes,
      records,
      paths,
      socketDirectory: paths.run,
      mark,
      release: "1.0.0",
      env: { PATH: process.env.PATH ?? "" },
      proxy: proxyConfig({ ...changes, ...more }),
      listenFds,
      ...(command === undefined ? {} : { command }),
      notice: (notice) => notices.push(notice),
      unrecorded: (error) => {
        throw error;
      },
    });
  };
  cleanups.push(() => {
    for (const { identity } of processes.marked(mark)) processes.killGroup(identity);
    rmSync(home, { recursive: true, force: true });
  });
  return { create, records, processes, notices, mark, paths };
}

async function upstream(socket: string, answer: (path: string, response: ServerResponse) => void): Promise<Server> {
  const server = createServer((request, response) => answer(request.url ?? "", response)).listen(socket);
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

const table = (socket: string, version = 1, id = "web-1") => ({
  version,
  routes: [
    {
      service: "web",
      host: "*",
      path: "/",
      bodyBytes: null,
      closed: null,
      upstreams: [{ id, target: { socket } }],
    },
  ],
});

function ask(set: ProxySet, path = "/"): Promise<string> {
  const where = set.listening()[0] ?? "";
  return new Promise((resolve, reject) => {
    get(`http://${where}${path}`, { agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve(body));
      response.on("error", reject);
    }).on("error", reject);
  });
}

function ready(set: ProxySet): { id: string; pid: number }[] {
  return set.processes().filter(({ state }) => state === "ready");
}

function pidOf(set: ProxySet): number {
  const [first] = set.processes();
  if (first === undefined) expect.fail("there is a proxy process");
  return first.pid;
}

test("a killed single proxy is respawned on the very same socket and its clients only wait", async () => {
  const { create, paths } = await setup();
  await upstream(join(paths.run, "web-1.sock"), (_, response) => response.end("hello"));
  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(join(paths.run, "web-1.sock")));
  expect(await ask(set)).toBe("hello");
  const [where] = set.listening();
  const killed = pidOf(set);

  process.kill(killed, "SIGKILL");
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(set)));

  expect(answers).toEqual(Array(20).fill("hello"));
  expect(set.listening()).toEqual([where]);
  expect(pidOf(set)).not.toBe(killed);
});

test("a later owld adopts the proxies, feeds them, and replaces them through succession", async () => {
  const { create, paths, records } = await setup({ processes: 1 });
  const first = join(paths.run, "web-1.sock");
  const second = join(paths.run, "web-2.sock");
  await upstream(first, (_, response) => response.end("old"));
  await upstream(second, (_, response) => response.end("new"));
  const dead = create();
  await dead.start();
  await dead.publish(table(first, 7));
  const pid = pidOf(dead);
  const [where = ""] = dead.listening();
  dead.letGo();

  const set = create({ listen: [{ host: "127.0.0.1", port: Number(where.split(":")[1]) }] });
  cleanups.push(() => set.stop());
  await set.start();
  expect(pidOf(set)).toBe(pid);
  expect(await ask(set)).toBe("old");

  await set.publish(table(second, 1, "web-2"));
  expect(await ask(set)).toBe("new");

  let asking = true;
  const answers: string[] = [];
  const load = (async () => {
    while (asking) answers.push(await ask(set).catch(String));
  })();
  await set.replace();
  asking = false;
  await load;
  expect(new Set(answers)).toEqual(new Set(["new"]));
  await poll(() => set.processes().length === 1);
  expect(pidOf(set)).not.toBe(pid);
  expect(records.all().map(({ identity }) => identity.pid)).toEqual([pidOf(set)]);
  expect(await ask(set)).toBe("new");
});

test("of two processes one crashed one is started again, also by its sibling after an adoption", async () => {
  const { create, paths } = await setup({ processes: 2 });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  const [where = ""] = dead.listening();
  expect(ready(dead)).toHaveLength(2);
  dead.letGo();

  const set = create({ listen: [{ host: "127.0.0.1", port: Number(where.split(":")[1]) }] });
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  const before = ready(set).map(({ pid }) => pid);
  process.kill(before[0] ?? 0, "SIGKILL");
  await poll(() => ready(set).length === 2 && ready(set).every(({ pid }) => pid !== before[0]));
  expect(ready(set).map(({ pid }) => pid)).toContain(before[1]);
  expect(await ask(set)).toBe("hello");
});

test("a process that hangs is killed and replaced", async () => {
  const { create, paths, notices } = await setup({}, quickClock);
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  const hung = pidOf(set);
  process.kill(hung, "SIGSTOP");
  const reader = createProcReader();
  // Until it has really stopped it may still accept a connection, which then ends with it.
  await poll(() => ["T", "Z", undefined].includes(reader.stat(hung)?.state));
  await poll(() => reader.stat(hung) === null || reader.stat(hung)?.state === "Z");
  // On a loaded machine its successor may be found hanging too, by so quick a clock.
  await poll(async () => (await ask(set).catch(() => null)) === "hello");
  expect(pidOf(set)).not.toBe(hung);
  expect(notices.map(({ type }) => type)).toContain("proxy.hung");
}, 120_000);

test("on systemd's descriptors a crashed process is respawned, and replaced by one spawned on them again", async () => {
  const systemd = await holdListener({ host: "127.0.0.1", port: 0 });
  cleanups.push(() => systemd.close());
  const { create, paths } = await setup({}, systemClock, [systemd.descriptor]);
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const set = create();
  await set.start();
  await set.publish(table(socket));
  const first = pidOf(set);
  process.kill(first, "SIGKILL");
  expect(await Promise.all(Array.from({ length: 10 }, () => ask(set)))).toEqual(Array(10).fill("hello"));
  const second = pidOf(set);
  expect(second).not.toBe(first);
  await set.replace();
  expect(await ask(set)).toBe("hello");
  await poll(() => set.processes().length === 1);
  expect(pidOf(set)).not.toBe(second);
  await set.stop();
});

test("a successor that does not come up is refused, and the old process serves on", async () => {
  const { create, paths, processes, mark } = await setup();
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const main = new URL("../../../../supervisor/proxy/main.ts", import.meta.url).pathname;
  const broken = join(paths.run, "broken");
  const script = 'test -e "$1" && exit 7; exec "$2" "$3"';
  const set = create({}, ["sh", "-c", script, "sh", broken, process.execPath, main]);
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  const old = pidOf(set);
  writeFileSync(broken, "");
  await expect(set.replace()).rejects.toMatchObject({ code: "proxy.failed" });
  expect(ready(set).map(({ pid }) => pid)).toEqual([old]);
  expect(await ask(set)).toBe("hello");
  await poll(() => processes.marked(mark).length === 1);
});

test("a process killed owld had no time to record is adopted by its mark", async () => {
  const { create, paths, records } = await setup();
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  const pid = pidOf(dead);
  dead.letGo();
  for (const { id } of records.all()) records.remove(id);

  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  expect(set.processes().map((one) => one.pid)).toEqual([pid]);
  expect(records.all().map(({ identity }) => identity.pid)).toEqual([pid]);
  await set.publish(table(socket));
  expect(await ask(set)).toBe("hello");
});

test("a successor whose predecessor ended before its word of it was heard is taken in, not bound against", async () => {
  const { create, paths, notices } = await setup({ listen: [{ host: "127.0.0.1", port: await steadyPort() }] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  dead.letGo();
  // Adopted by one owld, and asked by another that is killed before the successor is up.
  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  const [old] = set.processes();
  const killed = create();
  await killed.start();
  const replacing = killed.replace();
  replacing.catch(() => undefined);
  await poll(() => set.processes().every(({ pid }) => pid !== old?.pid) && ready(set).length === 1);
  killed.letGo();
  expect(await ask(set)).toBe("hello");
  expect(notices.map(({ message }) => message).join()).not.toMatch(/Another program/);
  await set.publish(table(socket, 5));
  expect(await ask(set)).toBe("hello");
});

test("when all processes are gone with their owld, a later one binds again", async () => {
  const { create, paths, records } = await setup({ listen: [{ host: "127.0.0.1", port: await steadyPort() }] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  const [where = ""] = dead.listening();
  const pid = pidOf(dead);
  dead.letGo();
  process.kill(pid, "SIGKILL");
  const set = create();
  cleanups.push(() => set.stop());
  await poll(() => records.all().every(({ identity }) => createProcessTable().identify(identity.pid) === null));
  await set.start();
  await set.publish(table(socket));
  expect(set.listening()).toEqual([where]);
  expect(await ask(set)).toBe("hello");
});

test("idle resolves only when the last request of that upstream has ended", async () => {
  const { create, paths } = await setup();
  const socket = join(paths.run, "web-1.sock");
  let finish: () => void = () => expect.fail("no request came");
  const came = Promise.withResolvers<void>();
  await upstream(socket, (_, response) => {
    finish = () => response.end("late");
    came.resolve();
  });
  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  const answer = ask(set);
  await came.promise;
  await set.publish({ version: 2, routes: [] });
  const order: string[] = [];
  const idle = set.idle("web-1", new AbortController().signal).then(() => order.push("idle"));
  const stopped = new AbortController();
  const refused = set.idle("web-1", stopped.signal);
  stopped.abort(new Error("enough"));
  await expect(refused).rejects.toThrow("enough");
  order.push("finish");
  finish();
  expect(await answer).toBe("late");
  await idle;
  expect(order).toEqual(["finish", "idle"]);
  expect(set.counters().requests).toBeGreaterThanOrEqual(1);
});

test("a taken port is one clear refusal and leaves no process", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  cleanups.push(() => taken.close());
  const address = taken.address();
  if (address === null || typeof address === "string") expect.fail("a port was given");
  const { create, processes, mark } = await setup({ listen: [{ host: "127.0.0.1", port: address.port }] });
  const set = create();
  await expect(set.start()).rejects.toMatchObject({ code: "listen.taken" });
  expect(processes.marked(mark)).toEqual([]);
});

test("a proxy that cannot start says why in the refusal itself, with the next step", async () => {
  const { create, processes, mark } = await setup({
    listen: [{ host: "127.0.0.1", port: await steadyPort() }],
    tls: { cert: "/nowhere/cert.pem", key: "/nowhere/key.pem", redirectFrom: null, hstsMaxAgeS: 0 },
  });
  await expect(create().start()).rejects.toMatchObject({
    message: expect.stringMatching(/^proxy-1 ended before it listened: The certificate cannot be used: ENOENT/),
    next: expect.stringMatching(/^Check proxy\.tls\.cert and proxy\.tls\.key.* Its log: .*proxy-1\.log$/),
  });
  await poll(() => processes.marked(mark).length === 0);
});

test("stop lets a request finish and leaves nothing behind", async () => {
  const { create, paths, processes, mark, records } = await setup();
  const socket = join(paths.run, "web-1.sock");
  let finish: () => void = () => expect.fail("no request came");
  const came = Promise.withResolvers<void>();
  await upstream(socket, (_, response) => {
    finish = () => response.end("late");
    came.resolve();
  });
  const set = create();
  await set.start();
  await set.publish(table(socket));
  const answer = ask(set);
  await came.promise;
  const stopped = set.stop();
  finish();
  expect(await answer).toBe("late");
  await stopped;
  expect(processes.marked(mark)).toEqual([]);
  expect(records.all()).toEqual([]);
});
