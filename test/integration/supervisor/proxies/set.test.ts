// The proxies under the real loop: the real program, real sockets, real kill -9.

import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ProxyConfig } from "../../../../config/config.ts";
import { systemClock } from "../../../../config/system-time.ts";
import type { Clock } from "../../../../config/time.ts";
import type { ProxySet } from "../../../../supervisor/ports.ts";
import { createProcessTable } from "../../../../supervisor/process/group-signal.ts";
import { holdListener } from "../../../../supervisor/process/held-listeners.ts";
import { createProcReader } from "../../../../supervisor/process/proc-identity.ts";
import { poll } from "../../../support/poll.ts";
import { createProxyHome, type House } from "../../../support/proxy-house.ts";
import { steadyPort } from "../../../support/steady-port.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

// The proxies are asked 4 times as often as in life, so that a hanging one is noticed in 2.5 seconds.
const quickClock: Clock = { ...systemClock, every: (ms, signal) => systemClock.every(ms / 4, signal) };

function setup(changes: Partial<ProxyConfig> = {}, clock: Clock = systemClock, listenFds: readonly number[] = []) {
  const home = createProxyHome(clock, listenFds);
  cleanups.push(home.cleanUp);
  const create = (more: Partial<ProxyConfig> = {}, command?: readonly [string, ...string[]]): House =>
    home.create({ ...changes, ...more }, command);
  return { ...home, create };
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

/** Has every proxy replaced by a successor; resolves when only those serve. */
async function renew(set: House): Promise<void> {
  const old = set.processes().map(({ id }) => id);
  set.renew("its code changed");
  await poll(() => ready(set).length > 0 && ready(set).every(({ id }) => !old.includes(id)));
}

function pidOf(set: ProxySet): number {
  const [first] = set.processes();
  if (first === undefined) expect.fail("there is a proxy process");
  return first.pid;
}

test("a killed single proxy is respawned on the very same socket and its clients only wait", async () => {
  const { create, paths } = setup();
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
  const { create, paths, disk } = setup({ listen: [at(await steadyPort())] });
  const first = join(paths.run, "web-1.sock");
  const second = join(paths.run, "web-2.sock");
  await upstream(first, (_, response) => response.end("old"));
  await upstream(second, (_, response) => response.end("new"));
  const dead = create();
  await dead.start();
  await dead.publish(table(first, 7));
  const pid = pidOf(dead);
  await dead.die();

  const set = create();
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
  await renew(set);
  asking = false;
  await load;
  expect(new Set(answers)).toEqual(new Set(["new"]));
  await poll(() => set.processes().length === 1);
  expect(pidOf(set)).not.toBe(pid);
  expect([...(disk.documents.get("proxy")?.keys() ?? [])]).toEqual(set.processes().map(({ id }) => id));
  expect(await ask(set)).toBe("new");
});

test("a single proxy killed under a later owld is respawned on its socket too, and its clients only wait", async () => {
  const { create, paths } = setup({ listen: [at(await steadyPort())] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  await dead.die();
  const set = create();
  await set.start();
  await set.publish(table(socket));
  for (let time = 1; time <= 2; time++) {
    const killed = pidOf(set);
    await poll(() => spares(paths.run).length === 1);
    // Whatever it had to tell us before, it has told: an answer to the first question may be one to an earlier one.
    for (let asked = 0; asked < 2; asked++) await set.refresh(new AbortController().signal);

    process.kill(killed, "SIGKILL");
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(set)));

    expect(answers).toEqual(Array(20).fill("hello"));
    expect(pidOf(set)).not.toBe(killed);
  }
  await set.stop();
  await poll(() => spares(paths.run).length === 0);
});

const commandLine = (pid: string): string => readFileSync(`/proc/${pid}/cmdline`, "utf8");

/** Shells that hold the sockets and wait. */
function spares(run: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && /^\/bin\/sh\0.*\0([^\0]+)\0$/s.exec(commandLine(pid))?.[1] === `${run}/spare.fifo`;
    } catch {
      return false;
    }
  });
}

test("of two processes one crashed one is started again, also by its sibling after an adoption", async () => {
  const { create, paths } = setup({ processes: 2, listen: [at(await steadyPort())] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  expect(ready(dead)).toHaveLength(2);
  await dead.die();

  const set = create();
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
  const { create, paths } = setup({}, quickClock);
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
  expect(set.events().map(({ type, message }) => `${type} ${message}`)).toContain(
    "instance.unhealthy proxy-1 failed its checks: it does not answer.",
  );
}, 120_000);

test("on systemd's descriptors a crashed process is respawned, and replaced by one spawned on them again", async () => {
  const systemd = await holdListener({ host: "127.0.0.1", port: 0 });
  cleanups.push(() => systemd.close());
  const { create, paths } = setup({}, systemClock, [systemd.descriptor]);
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
  await renew(set);
  expect(await ask(set)).toBe("hello");
  await poll(() => set.processes().length === 1);
  expect(pidOf(set)).not.toBe(second);
  await set.stop();
});

test("a successor that does not come up is told, the old process serves on, and the next try is made by itself", async () => {
  const { create, paths, marked } = setup({ listen: [at(await steadyPort())] });
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
  set.configure({ queueTimeoutMs: 6_000 });
  await expect(set.settled()).rejects.toMatchObject({ code: "proxy.failed" });
  expect(set.trouble()).toMatchObject({ code: "proxy.failed" });
  expect(ready(set).map(({ pid }) => pid)).toEqual([old]);
  expect(await ask(set)).toBe("hello");
  rmSync(broken);
  await poll(() => ready(set).length === 1 && pidOf(set) !== old && set.trouble() === null);
  expect(await ask(set)).toBe("hello");
  await poll(() => marked().length === 1);
}, 60_000);

test("a process killed owld had no time to record is adopted by its mark, and serves until a known one does", async () => {
  const { create, paths, disk } = setup({ listen: [at(await steadyPort())] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  const pid = pidOf(dead);
  await dead.die();
  disk.documents.get("proxy")?.clear();

  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  expect(set.events().map(({ type, data }) => [type, data?.to])).toContainEqual(["instance.adopted", "starting"]);
  await set.publish(table(socket));
  expect(await ask(set)).toBe("hello");
  await poll(() => set.processes().length === 1 && pidOf(set) !== pid);
  expect(await ask(set)).toBe("hello");
}, 60_000);

test("when all processes are gone with their owld, a later one binds again", async () => {
  const { create, paths } = setup({ listen: [{ host: "127.0.0.1", port: await steadyPort() }] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create();
  await dead.start();
  const [where = ""] = dead.listening();
  const pid = pidOf(dead);
  await dead.die();
  process.kill(pid, "SIGKILL");
  const set = create();
  cleanups.push(() => set.stop());
  await poll(() => createProcessTable().identify(pid) === null);
  await set.start();
  await set.publish(table(socket));
  expect(set.listening()).toEqual([where]);
  expect(await ask(set)).toBe("hello");
});

test("idle resolves only when the last request of that upstream has ended", async () => {
  const { create, paths } = setup();
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

test("a taken port is one clear refusal, and is listened on once it is free", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  cleanups.push(() => taken.close());
  const address = taken.address();
  if (address === null || typeof address === "string") expect.fail("a port was given");
  const { create, marked } = setup({ listen: [{ host: "127.0.0.1", port: address.port }] });
  const set = create();
  cleanups.push(() => set.stop());
  await expect(set.start()).rejects.toMatchObject({ code: "listen.taken" });
  expect(marked()).toEqual([]);
  taken.close();
  await poll(() => ready(set).length === 1);
});

test("a proxy that cannot start says why in the refusal itself, with the next step", async () => {
  const { create, marked } = setup({
    listen: [{ host: "127.0.0.1", port: await steadyPort() }],
    tls: {
      cert: "/nowhere/cert.pem",
      key: "/nowhere/key.pem",
      acme: null,
      redirectFrom: null,
      hstsMaxAgeS: 0,
      http2: true,
    },
  });
  const set = create();
  cleanups.push(() => set.stop());
  await expect(set.start()).rejects.toMatchObject({
    message: expect.stringMatching(/^proxy-1 ended before it listened: The certificate cannot be used: ENOENT/),
    next: expect.stringMatching(/^Check proxy\.tls\.cert and proxy\.tls\.key.* Its log: .*proxy-1\.log$/),
  });
  await poll(() => marked().length === 0);
});

test("stop lets a request finish and leaves nothing behind", async () => {
  const { create, paths, marked, disk } = setup();
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
  expect(marked()).toEqual([]);
  expect(disk.documents.get("proxy")?.size ?? 0).toBe(0);
});

/** Another program's listener. */
async function takePort(): Promise<{ readonly port: number; free(): void }> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  cleanups.push(() => taken.close());
  const address = taken.address();
  if (address === null || typeof address === "string") expect.fail("a port was given");
  return { port: address.port, free: () => taken.close() };
}

const at = (port: number) => ({ host: "127.0.0.1", port });

test("a taken new address keeps the old proxy, through a kill -9 of owld too, until the address is free", async () => {
  const first = await steadyPort();
  const { create, paths } = setup({ listen: [at(first)] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const { port, free } = await takePort();
  const dead = create();
  await dead.start();
  await dead.publish(table(socket));
  const old = pidOf(dead);
  dead.configure({ listen: [at(port)] });
  await expect(dead.settled()).rejects.toMatchObject({
    code: "listen.taken",
    message: expect.stringMatching(`:${port}`),
  });
  expect(await ask(dead)).toBe("hello");
  await dead.die();

  const set = create({ listen: [at(port)] });
  cleanups.push(() => set.stop());
  await expect(set.start()).rejects.toMatchObject({ code: "listen.taken" });
  await set.publish(table(socket));
  expect(pidOf(set)).toBe(old);
  expect(await ask(set)).toBe("hello");
  free();
  await poll(() => ready(set).some(({ pid }) => pid !== old) && set.listening()[0] === `127.0.0.1:${port}`);
  expect(await ask(set)).toBe("hello");
  expect(set.trouble()).toBeNull();
  await poll(() => set.processes().length === 1);
}, 60_000);

test("while a new address is taken, an old proxy that crashes comes back on the old one", async () => {
  const { create, paths } = setup({ listen: [at(await steadyPort())] });
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const { port } = await takePort();
  const set = create();
  cleanups.push(() => set.stop());
  await set.start();
  await set.publish(table(socket));
  set.configure({ listen: [at(port)] });
  await expect(set.settled()).rejects.toMatchObject({ code: "listen.taken" });
  process.kill(pidOf(set), "SIGKILL");
  expect(await ask(set)).toBe("hello");
  expect(set.trouble()).toMatchObject({ code: "listen.taken" });
}, 60_000);

test("an adopted proxy hands on the address that stays while its successor binds the new one", async () => {
  const [stays, goes, comes] = [await steadyPort(), await steadyPort(), await steadyPort()];
  const { create, paths } = setup();
  const socket = join(paths.run, "web-1.sock");
  await upstream(socket, (_, response) => response.end("hello"));
  const dead = create({ listen: [at(goes), at(stays)] });
  await dead.start();
  await dead.publish(table(socket));
  await dead.die();
  const set = create({ listen: [at(stays), at(comes)] });
  cleanups.push(() => set.stop());
  await set.start();
  expect(set.listening()).toEqual([`127.0.0.1:${stays}`, `127.0.0.1:${comes}`]);
  await poll(() => set.processes().length === 1);
}, 60_000);

test.each(["the same owld", "the next owld"])(
  "a proxy that hangs while it drains is killed by %s",
  async (who) => {
    const { create, paths, marked } = setup({ listen: [at(await steadyPort())] }, quickClock);
    const socket = join(paths.run, "web-1.sock");
    const came = Promise.withResolvers<void>();
    await upstream(socket, () => came.resolve());
    const first = create();
    await first.start();
    await first.publish(table(socket));
    const asked = ask(first).catch(() => "cut");
    await came.promise;
    process.kill(pidOf(first), "SIGSTOP");
    let set = first;
    if (who === "the next owld") {
      await first.die();
      set = create();
      // It cannot be heard of yet.
      set.start().catch(() => undefined);
      await poll(() => set.processes().length === 1);
    }
    await set.stop();
    expect(marked()).toEqual([]);
    expect(await asked).toBe("cut");
  },
  60_000,
);
