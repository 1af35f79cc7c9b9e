// Owl under a real systemd, as `owlctl install` leaves it: the bundled application with its own PostgreSQL.
// The tests build on each other, as an installation's life does: install, crash, restart, reboot, uninstall.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Status } from "../../../config/control-api.ts";
import { makeRelease, packageRelease } from "../../support/releases.ts";
import { boot, holds, inside, must, node, PROJECT, powerOff, SHARED, until } from "./box.ts";

const OWLCTL = `${PROJECT}/ctl/owlctl`;
/** What an uninstallation has to give back, less what systemd, apt and the kernel change by themselves. */
const FILES =
  // The last one may have been made for us: an empty directory of the administrator's, not ours to remove.
  "mkdir -p /etc/sysusers.d; find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/tmp -o -path /run/systemd " +
  "-o -path /run/user -o -path /var/lib/systemd -o -path '/etc/*-' -o -path /etc/.pwd.lock -o -path /var/log -o -path /root -o -path /run/dbus -o -path /run/udev " +
  // The checkout is shown inside, and whoever works on it meanwhile is not the uninstallation.
  `-o -path ${PROJECT} \\) -prune -o -print | sort; ` +
  "find /run -maxdepth 1 | sort";

const RELEASES = join(SHARED, "owl-releases");
let before: string[];

beforeAll(async () => {
  await boot();
  const appended = (path: string): string => `${readFileSync(join(PROJECT, path), "utf8")}\n// The next release.\n`;
  rmSync(RELEASES, { recursive: true, force: true });
  mkdirSync(RELEASES);
  await makeRelease(RELEASES, "9.3.0", {
    "supervisor/main.ts": appended("supervisor/main.ts"),
    "supervisor/proxy/main.ts": appended("supervisor/proxy/main.ts"),
  });
  const packaged = { "services/text/release-notes.json": JSON.stringify({ en: ["Packaged."], ko: ["패키지."] }) };
  for (const [version, files] of [
    ["9.3.0", null],
    ["9.4.0", packaged],
  ] as const) {
    if (files !== null) await makeRelease(RELEASES, version, files);
    await packageRelease(join(RELEASES, version), join(RELEASES, `${version}.deb`));
  }
  await makeRelease(RELEASES, "9.3.1", { "services/web/main.ts": "process.exit(3);\n" });
  // What a run that was broken off may have left.
  await inside("dpkg -P owl");
  await inside(`${OWLCTL} uninstall --purge --yes`);
  before = (await must(FILES)).split("\n");
}, 900_000);
afterAll(async () => {
  await powerOff();
  rmSync(RELEASES, { recursive: true, force: true });
}, 60_000);

async function status(): Promise<Status | null> {
  const { code, out } = await inside("owlctl status --json");
  return code === 0 ? (JSON.parse(out) as Status) : null;
}

function steady(): Promise<Status> {
  return until("a steady Owl", async () => {
    const now = await status();
    // A new owld on trial is a child of its launcher for a moment; it leaves by itself once it is up.
    return now?.state === "steady" && now.pid === (await mainPid()) ? now : null;
  });
}

/** Every process of Owl but owld itself, by name: what has to survive it. */
async function processes(): Promise<Record<string, number>> {
  const now = await steady();
  const all: Record<string, number> = {};
  for (const proxy of now.proxy.processes) all[proxy.id] = proxy.pid;
  for (const service of now.services) for (const one of service.instances) all[one.id] = one.pid ?? 0;
  all.postgres = Number(await must("head -n 1 /var/lib/owl/postgres/data/postmaster.pid"));
  return all;
}

const mainPid = async () => Number(await must("systemctl show owl -p MainPID --value"));

/** A client inside the box that asks all the time until told to stop; answers how many were answered and failed. */
async function askWhile(act: () => Promise<void>): Promise<{ answered: number; failed: string[] }> {
  await inside("rm -f /tmp/ask-stop /tmp/asked; mkdir -p /tmp");
  const asking = node(`
    import { existsSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    import http from "node:http";
    const ask = () => new Promise((resolve) => {
      const request = http.get({ host: "127.0.0.1", port: 8080, path: "/", agent: false }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode < 500 ? null : String(answer.statusCode)));
        answer.on("error", (error) => resolve(String(error)));
      });
      request.on("error", (error) => resolve(String(error)));
    });
    const all = [];
    while (!existsSync("/tmp/ask-stop")) { all.push(ask()); await sleep(15); }
    const failed = (await Promise.all(all)).filter((one) => one !== null);
    console.log(JSON.stringify({ answered: all.length - failed.length, failed }));
  `);
  try {
    await act();
  } finally {
    await inside("touch /tmp/ask-stop");
  }
  return JSON.parse(await asking) as { answered: number; failed: string[] };
}

describe("an installation", () => {
  test("is up by one command, a dry run before it having changed nothing", async () => {
    await must(`${OWLCTL} install --dry-run`);
    expect((await must(FILES)).split("\n")).toEqual(before);
    const out = await must(`${OWLCTL} install`);
    expect(out).toContain(":8080");
    const now = await steady();
    expect(now.services.map(({ name, ready }) => [name, ready])).toEqual([
      ["web", 2],
      ["worker", 2],
    ]);
    expect(await node(`console.log((await fetch("http://127.0.0.1:8080/")).status)`)).toBe("200");
    expect(await must("systemctl show owl -p ActiveState,Type,NotifyAccess --value")).toBe("notify\nall\nactive");
  });

  test("is exposed no more than 3.0 by systemd's own measure", async () => {
    const measured = await must("systemd-analyze security owl.service --no-pager | tail -n 1");
    expect(Number(/: (\d+\.\d+)/.exec(measured)?.[1])).toBeLessThanOrEqual(3);
  });

  test("runs services as owl-app, the rest as owl, and nobody but owld holds a capability", async () => {
    const all = await processes();
    for (const [name, pid] of Object.entries(all)) {
      const facts = await must(`ps -o user= -p ${pid}; grep CapEff /proc/${pid}/status`);
      expect(`${name} ${facts.replaceAll(/\s+/g, " ")}`).toBe(
        `${name} ${/^(web|worker)-/.test(name) ? "owl-app" : "owl"} CapEff: 0000000000000000`,
      );
    }
    const denied = await inside("setpriv --reuid=owl-app --regid=owl-app --init-groups owlctl status");
    expect(denied.code).toBe(3);
  });

  test("a second installation changes nothing that runs", async () => {
    const all = await processes();
    await must(`echo '# mine' >> /etc/owl/owl.yaml; ${OWLCTL} install`);
    expect(await processes()).toEqual(all);
    expect(await must("tail -n 1 /etc/owl/owl.yaml")).toBe("# mine");
  });
});

describe("owld's death", () => {
  test("by kill -9 leaves every instance, proxy and the database untouched, and no request fails", async () => {
    const all = await processes();
    const pid = await mainPid();
    const asked = await askWhile(async () => {
      await must(`kill -KILL ${pid}`);
      await until("another owld", async () => {
        const now = await status();
        return now !== null && now.pid !== pid && now.state === "steady";
      });
    });
    expect(asked.failed).toEqual([]);
    expect(asked.answered).toBeGreaterThan(10);
    expect(await processes()).toEqual(all);
  });

  test("by the watchdog follows a blocked loop, and everything is adopted", async () => {
    await must("mkdir -p /etc/systemd/system/owl.service.d");
    await must("printf '[Service]\\nWatchdogSec=3s\\n' > /etc/systemd/system/owl.service.d/watchdog.conf");
    await must("systemctl daemon-reload");
    const first = await mainPid();
    await must(`kill -KILL ${first}`);
    await until("an owld with that watchdog", async () => (await mainPid()) !== first && (await status()) !== null);
    const all = await processes();
    const blocked = await mainPid();
    // Alive for three times the watchdog: the loop feeds it.
    await must("sleep 9");
    expect(await mainPid()).toBe(blocked);
    await must(`kill -USR1 ${blocked}`);
    await node(`
      import { setTimeout as sleep } from "node:timers/promises";
      let url;
      for (let tries = 0; !url && tries < 100; tries++) {
        try { url = (await (await fetch("http://127.0.0.1:9229/json/list")).json())[0].webSocketDebuggerUrl; } catch { await sleep(50); }
      }
      const socket = new WebSocket(url);
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression: "for (;;);" } }));
      await sleep(300);
      process.exit(0);
    `);
    await until("another owld", async () => {
      const pid = await mainPid();
      return pid !== 0 && pid !== blocked && (await status()) !== null;
    });
    expect(await must("journalctl -u owl --no-pager -o cat | grep -c 'Watchdog timeout'")).not.toBe("0");
    expect(await processes()).toEqual(all);
    await must("rm -r /etc/systemd/system/owl.service.d; systemctl daemon-reload");
  });
});

describe("systemd's socket", () => {
  test("starts Owl for a client that waits, after an orderly stop that left nothing behind", async () => {
    // A slow machine may need longer than the usual 5 s from the proxy's start to the first ready web.
    await must("printf 'proxy: {listen: \"0.0.0.0:8080\", queueTimeout: 60s}\n' > /etc/owl/owl.yaml");
    await must("owlctl reload");
    await must("systemctl stop owl.service");
    const left = await inside("ps -o pid=,user=,args= -u owl,owl-app");
    expect(left.out.trim()).toBe("");
    expect(await node(`console.log((await fetch("http://127.0.0.1:8080/")).status)`)).toBe("200");
    await steady();
  });

  test("keeps clients in the backlog over a restart of the unit: all are answered", async () => {
    const pid = await mainPid();
    const asked = await askWhile(async () => {
      await must("systemctl restart owl.service");
      const now = await steady();
      expect(now.pid).not.toBe(pid);
    });
    expect(asked.failed).toEqual([]);
  });
});

/** Where the code of the running owld lies, by its program. */
async function codeOfOwld(): Promise<string> {
  const program = await must(`readlink -f /proc/${await mainPid()}/exe`);
  return program.replace(/\/node_modules\/.*$/, "");
}

const restarts = async () => Number(await must("systemctl show owl -p NRestarts --value"));

/** systemd watches the owld that answers, and has nothing to say against it. */
async function expectWatched(version: string): Promise<void> {
  const now = await steady();
  expect(now.release.version).toBe(version);
  expect(await mainPid()).toBe(now.pid);
  expect(await must("systemctl show owl -p ActiveState,SubState,Result --value")).toBe("success\nactive\nrunning");
  expect(await codeOfOwld()).toBe(await must("readlink -f /var/lib/owl/current"));
  expect([...new Set(now.services.flatMap(({ instances }) => instances.map(({ release }) => release)))]).toEqual([
    version,
  ]);
}

let installed = "";

describe("an update", () => {
  test("replaces the proxy without a refused connection and owld last, which systemd goes on watching", async () => {
    await must(
      "printf 'proxy: {listen: \"0.0.0.0:8080\", queueTimeout: 60s}\nrollout: {confirm: 2s}\n' > /etc/owl/owl.yaml; owlctl reload",
    );
    const old = await steady();
    installed = old.release.version;
    const [all, count] = [await processes(), await restarts()];
    const asked = await askWhile(async () => {
      await must("owlctl update /var/tmp/owl-releases/9.3.0 --yes");
      await until("owld of the new release", async () => (await status())?.release.version === "9.3.0");
      // The old proxy leaves when the new one serves; both may be there for a while.
      await until("the new proxy alone", async () => {
        const now = await status();
        const [proxy, ...more] = now?.proxy.processes ?? [];
        return proxy !== undefined && more.length === 0 && !old.proxy.processes.some(({ pid }) => pid === proxy.pid);
      });
    });
    expect(asked.failed).toEqual([]);
    expect(asked.answered).toBeGreaterThan(100);
    await expectWatched("9.3.0");
    expect(await mainPid()).not.toBe(old.pid);
    expect(await must("owlctl version")).toContain("9.3.0");
    expect(await must("readlink /var/lib/owl/current")).toBe("/var/lib/owl/releases/9.3.0");
    // Once, for its own renewal; the database was not touched.
    expect(await restarts()).toBe(count + 1);
    expect((await processes()).postgres).toBe(all.postgres);
  });

  test("to a release that is broken is rolled back by itself, and the unit goes on as it was", async () => {
    const [pid, count] = [await mainPid(), await restarts()];
    const asked = await askWhile(async () => {
      const done = await inside("owlctl update /var/tmp/owl-releases/9.3.1 --yes");
      expect([done.code, done.out + done.err]).toEqual([1, expect.stringContaining("Rolled back to 9.3.0")]);
    });
    expect(asked.failed).toEqual([]);
    await expectWatched("9.3.0");
    expect([await mainPid(), await restarts()]).toEqual([pid, count]);
    expect((await must("ls -A /var/lib/owl/releases")).split("\n")).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/9\.3\.1|^\./)]),
    );
  });
});

describe("the machine", () => {
  test("comes back with Owl after a reboot, data kept, on the release that `current` points to", async () => {
    const boot = await must(
      "cat /proc/sys/kernel/random/boot_id; systemctl show -p UserspaceTimestampMonotonic --value",
    );
    await must("touch /run/before-reboot");
    await inside("systemctl reboot");
    await until("the machine again", () => holds("test ! -e /run/before-reboot"), 120);
    const now = await steady();
    expect(now.services.every(({ ready, replicas }) => ready === replicas)).toBe(true);
    expect(await must("systemctl show -p UserspaceTimestampMonotonic --value")).not.toBe(boot.split("\n")[1]);
    await expectWatched("9.3.0");
  });

  test("goes back by hand to what was installed, `current` and the unit with it", async () => {
    const count = await restarts();
    const asked = await askWhile(async () => {
      await must("owlctl rollback --yes");
      await until("owld of before", async () => (await status())?.release.version === installed);
    });
    expect(asked.failed).toEqual([]);
    await expectWatched(installed);
    expect(await restarts()).toBe(count + 1);
  });

  test("is as it was after uninstalling with --purge", async () => {
    await must("owlctl uninstall --purge --yes");
    expect((await must(FILES)).split("\n")).toEqual(before);
    expect((await inside("getent passwd owl owl-app")).out).toBe("");
    expect((await inside("systemctl status owl.service owl.socket")).code).toBe(4);
    const left = await inside(`ps -eo pid=,args= | grep -E 'owld|postgres|services/(web|worker)' | grep -v grep`);
    expect(left.out).toBe("");
  });
});

describe("a Debian package", () => {
  const dpkg = (what: string): Promise<string> => must(`DEBIAN_FRONTEND=noninteractive dpkg ${what}`);

  test("is the same bytes each time it is made", async () => {
    const again = join(RELEASES, "again.deb");
    const before = process.umask(0o077);
    await packageRelease(join(RELEASES, "9.3.0"), again).finally(() => process.umask(before));
    expect(readFileSync(again).equals(readFileSync(join(RELEASES, "9.3.0.deb")))).toBe(true);
  });

  test("installs a service, which the next one's package updates without a failed request", async () => {
    expect(await dpkg("-i /var/tmp/owl-releases/9.3.0.deb")).toContain(":8080");
    expect((await steady()).release.version).toBe("9.3.0");
    await must("printf 'rollout: {confirm: 2s}\n' >> /etc/owl/owl.yaml");
    await must("owlctl reload");
    const all = await processes();
    const asked = await askWhile(async () => {
      await dpkg("-i /var/tmp/owl-releases/9.4.0.deb");
      await until("owld of the new release", async () => (await status())?.release.version === "9.4.0");
    });
    expect(asked.failed).toEqual([]);
    expect(asked.answered).toBeGreaterThan(100);
    await expectWatched("9.4.0");
    expect((await processes()).postgres).toBe(all.postgres);
    expect(await must("cat /etc/owl/owl.yaml")).toContain("confirm: 2s");
    // The same once more changes nothing.
    const { pid } = await steady();
    await dpkg("-i /var/tmp/owl-releases/9.4.0.deb");
    expect(await mainPid()).toBe(pid);
  });

  test("is removed with its data kept, and purged without a trace", async () => {
    await dpkg("-r owl");
    expect((await inside("systemctl status owl.service")).code).toBe(4);
    expect(await holds("test -d /var/lib/owl/postgres/data -a -f /etc/owl/owl.yaml")).toBe(true);
    await dpkg("-P owl");
    expect((await must(FILES)).split("\n")).toEqual(before);
    expect((await inside("getent passwd owl owl-app")).out).toBe("");
  });
});
