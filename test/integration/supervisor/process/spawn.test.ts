// Spawning, exits, adoption: real processes.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import { createProcessTable } from "../../../../supervisor/process/group-signal.ts";
import { createSpawner } from "../../../../supervisor/process/spawn.ts";
import { createBench } from "../../../support/instance.ts";

let bench: ReturnType<typeof createBench>;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.stop());

test("an instance leads its own group and session and writes straight into its log", async () => {
  const running = await bench.spawner.spawn(bench.request(["sh", "-c", "echo out; echo err >&2; cat /proc/$$/stat"]));
  expect(await running.exited).toEqual({ known: true, code: 0, signal: null });
  const [out, err, stat = ""] = bench.log("web-1").split("\n");
  expect([out, err]).toEqual(["out", "err"]);
  const [group, session] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(2, 4);
  expect([group, session]).toEqual([String(running.identity.pid), String(running.identity.pid)]);
});

test("an instance inherits the FIFO, its listeners and nothing else", async () => {
  const extra = process.stdout.fd;
  // Of the shell alone: no pipe, whose ends it would hold for a moment, and not of `ls`, which it does not become.
  const list = ["sh", "-c", "ls /proc/$$/fd; true"] as const;
  const request = bench.request(list, { descriptors: [extra] });
  await (await bench.spawner.spawn(request)).exited;
  const numbers = (text: string): number[] => text.trim().split(/\s+/).map(Number);
  const mine = numbers(bench.log("web-1"));
  expect(mine).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]));
  // Whoever runs this test may have left it descriptors that any child gets (owld closes such at its start): those a
  // plain child has are not the spawner's doing.
  const plain = numbers((await execa(list[0], list.slice(1))).stdout);
  expect(mine.filter((fd) => fd > 4 && !plain.includes(fd))).toEqual([]);
});

test("owld closes at its start what it inherited by accident, and keeps what it was given", async () => {
  const module = new URL("../../../../supervisor/process/inherited-fds.ts", import.meta.url).href;
  const script = `
    const { closeInherited } = await import(${JSON.stringify(module)});
    const { fstatSync } = await import("node:fs");
    const isOpen = (fd) => { try { fstatSync(fd); return true; } catch { return false; } };
    const before = [isOpen(30), isOpen(31)];
    closeInherited(new Set([31]));
    console.log(JSON.stringify([before, [isOpen(30), isOpen(31)]]));`;
  const shell = 'exec 30>/dev/null 31>/dev/null; exec "$@"';
  const { stdout } = await execa("bash", ["-c", shell, "bash", process.execPath, "--input-type=module", "-e", script]);
  expect(JSON.parse(stdout)).toEqual([
    [true, true],
    [false, true],
  ]);
});

test("what it is handed is read once from its descriptor, and stands nowhere in its environment", async () => {
  const module = new URL("../../../../config/handed-config.ts", import.meta.url).href;
  const script = `
    const { takeHanded } = await import(${JSON.stringify(module)});
    const { existsSync, readFileSync } = await import("node:fs");
    console.log(takeHanded(process.env).length, existsSync("/proc/self/fd/4"), process.env.OWL_APP_CONFIG_FD,
      readFileSync("/proc/self/environ", "utf8").includes("secret"));`;
  const request = bench.request([process.execPath, "--input-type=module", "-e", script], {
    env: { OWL_APP_CONFIG_FD: "4" },
    handed: "secret".repeat(100_000),
  });
  await (await bench.spawner.spawn(request)).exited;
  expect(bench.log("web-1")).toBe("600000 false undefined false\n");
});

test("it gets its own environment, directory and umask", async () => {
  const mine = process.umask();
  const request = bench.request(["sh", "-c", "umask; pwd; env | cut -d= -f1 | sort | xargs"], { umask: 0o027 });
  await (await bench.spawner.spawn(request)).exited;
  const [umask, directory, names] = bench.log("web-1").trim().split("\n");
  expect([umask, directory]).toEqual(["0027", bench.home]);
  expect(
    names?.split(" ").filter((name) => name !== "_" && name !== "PWD" && name !== "SHLVL" && name !== "OLDPWD"),
  ).toEqual(["OWL_INSTANCE", "OWL_MARK", "OWL_RELEASE", "OWL_SERVICE", "PATH"]);
  expect(process.umask()).toBe(mine);
});

test("its exit code and its signal are told", async () => {
  const coded = await bench.spawner.spawn(bench.request(["sh", "-c", "exit 7"]));
  expect(await coded.exited).toEqual({ known: true, code: 7, signal: null });
  const killed = await bench.spawner.spawn(bench.request(["sleep", "600"]));
  bench.table.signalLeader(killed.identity, "SIGKILL");
  expect(await killed.exited).toEqual({ known: true, code: null, signal: "SIGKILL" });
});

test("a program that ends at once still has its identity", async () => {
  const many = await Promise.all(Array.from({ length: 20 }, () => bench.spawner.spawn(bench.request(["true"]))));
  for (const running of many) {
    expect(running.identity.pid).toBeGreaterThan(1);
    expect(await running.exited).toEqual({ known: true, code: 0, signal: null });
  }
});

test("what cannot be started is one clear refusal", async () => {
  const { spawner, request, home } = bench;
  writeFileSync(join(home, "data"), "no program", { mode: 0o644 });
  mkdirSync(join(home, "folder"));
  await expect(spawner.spawn(request(["no-such-command"]))).rejects.toMatchObject({
    code: "spawn.failed",
    message: 'The command "no-such-command" was not found.',
    next: expect.stringContaining("owl.yaml"),
  });
  await expect(spawner.spawn(request(["./data"]))).rejects.toThrow("is not an executable file");
  await expect(spawner.spawn(request(["./folder"]))).rejects.toMatchObject({ code: "spawn.failed" });
  await expect(spawner.spawn(request(["true"], { cwd: join(home, "gone") }))).rejects.toThrow("does not exist");
  await expect(spawner.spawn(request(["true"], { user: "no-such-user" }))).rejects.toMatchObject({
    message: 'There is no user "no-such-user" on this machine.',
  });
});

test("a script whose interpreter is missing is refused without telling its arguments", async () => {
  writeFileSync(join(bench.home, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
  await expect(bench.spawner.spawn(bench.request(["./script", "secret-argument"]))).rejects.toMatchObject({
    code: "spawn.failed",
    message: "Its program could not be started: ENOENT.",
    next: expect.stringContaining("interpreter"),
  });
});

test("a later owld sees the exit of an adopted instance by its FIFO", async () => {
  const request = bench.request(["sleep", "600"]);
  const running = await bench.spawner.spawn(request);
  // A clock that never ticks: only the FIFO can tell.
  const still = {
    ...systemClock,
    after: (ms: number, run: () => void) => (ms < 1_000 ? systemClock.after(ms, run) : () => undefined),
  };
  const later = createSpawner({ clock: still, table: bench.table });
  const adopted = later.adopt(running.identity, request.exitFifo);
  if (adopted === null) expect.fail("it lives");
  bench.table.signalLeader(running.identity, "SIGKILL");
  expect(await adopted.exited).toEqual({ known: false });
  later.stop();
});

test("without its FIFO, or with the FIFO closed by the program, the slow poll sees the exit", async () => {
  const quick = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(Math.min(ms, 50), run) };
  const later = createSpawner({ clock: quick, table: bench.table });
  const request = bench.request(["sh", "-c", "exec 3>&-; echo up; exec sleep 600"]);
  const closed = await bench.spawner.spawn(request);
  const plain = await bench.spawner.spawn(bench.request(["sleep", "600"]));
  await bench.logged("web-1", /up/);
  const adopted = [
    later.adopt(closed.identity, request.exitFifo),
    later.adopt(plain.identity, join(bench.home, "run", "no.fifo")),
  ];
  let exits = 0;
  for (const one of adopted) void one?.exited.then(() => exits++);
  expect(bench.table.isAlive(closed.identity)).toBe(true);
  bench.table.signalLeader(closed.identity, "SIGKILL");
  bench.table.signalLeader(plain.identity, "SIGKILL");
  await Promise.all(adopted.map((one) => one?.exited));
  expect(exits).toBe(2);
  later.stop();
});

test("a recycled number is not adopted", async () => {
  const running = await bench.spawner.spawn(bench.request(["sleep", "600"]));
  const { identity } = running;
  expect(bench.spawner.adopt({ ...identity, startTicks: "1" }, join(bench.home, "run", "no.fifo"))).toBeNull();
  expect(bench.spawner.adopt({ ...identity, bootId: "another-boot" }, join(bench.home, "run", "no.fifo"))).toBeNull();
});

test("instances outlive a kill -9 of the owld that started them, log and all", async () => {
  const script = `
    import { systemClock } from "${new URL("../../../../config/system-time.ts", import.meta.url).pathname}";
    import { createProcessTable } from "${new URL("../../../../supervisor/process/group-signal.ts", import.meta.url).pathname}";
    import { createSpawner } from "${new URL("../../../../supervisor/process/spawn.ts", import.meta.url).pathname}";
    const spawner = createSpawner({ clock: systemClock, table: createProcessTable() });
    const running = await spawner.spawn(${JSON.stringify(bench.request(["sh", "-c", "trap 'echo still here' USR1; echo up; while :; do sleep 0.05; done"]))});
    console.log(JSON.stringify(running.identity));
    process.kill(process.pid, "SIGKILL");`;
  const owld = await execa(process.execPath, ["--input-type=module-typescript", "-e", script], { reject: false });
  expect(owld.signal).toBe("SIGKILL");
  const identity = JSON.parse(owld.stdout);
  const adopted = bench.spawner.adopt(identity, join(bench.home, "run", "web-1.fifo"));
  if (adopted === null) expect.fail("it lives on");
  await bench.logged("web-1", /up/);
  bench.table.signalLeader(identity, "SIGUSR1");
  await bench.logged("web-1", /still here/);
  expect(bench.table.killGroup(identity)).toBe("sent");
  expect(await adopted.exited).toEqual({ known: false });
});

test("as root an instance may run as another user, with that user's groups and no capability", async () => {
  if (process.getuid?.() !== 0) {
    // An ordinary user cannot switch: that, and the way on, is what it must be told.
    await expect(bench.spawner.spawn(bench.request(["id"], { user: "root" }))).rejects.toMatchObject({
      code: "spawn.failed",
    });
    return;
  }
  const running = await bench.spawner.spawn(
    bench.request(["sh", "-c", "id -un; grep CapEff /proc/self/status"], { user: "nobody", cwd: "/" }),
  );
  expect(await running.exited).toEqual({ known: true, code: 0, signal: null });
  expect(bench.log("web-1")).toMatch(/^nobody\nCapEff:\t0+\n$/);
});

test("the files of its secrets are read by its user and by nobody else", async () => {
  const directory = join(bench.home, "run", "web-1.secrets");
  const isRoot = process.getuid?.() === 0;
  chmodSync(bench.home, 0o711);
  for (const user of isRoot ? [null, "nobody"] : [null]) {
    const script = 'cat "$0/db"; stat -c "; %a %U" "$0" "$0/db" | xargs';
    const request = bench.request(["sh", "-c", script, directory], {
      user,
      cwd: "/",
      secrets: { directory, values: { db: "told to one" } },
    });
    await (await bench.spawner.spawn(request)).exited;
    const owner = user ?? userInfo().username;
    expect(bench.log(request.instance).trim()).toBe(
      `told to one; ${user === null ? 700 : 500} ${owner} ; 400 ${owner}`,
    );
  }
});

test("200 adopted instances cost next to nothing while idle", async () => {
  const identity = createProcessTable().identify(process.pid);
  if (identity === null) expect.fail("this test runs");
  let looks = 0;
  const table = { ...bench.table, isAlive: () => ++looks > 0 };
  const ticks: (() => void)[] = [];
  const clock = {
    ...systemClock,
    after: (_: number, run: () => void) => {
      ticks.push(run);
      return () => undefined;
    },
  };
  const spawner = createSpawner({ clock, table });
  for (let n = 0; n < 200; n++) spawner.adopt(identity, join(bench.home, "run", "no.fifo"));
  looks = 0;
  expect(ticks).toHaveLength(1);
  ticks[0]?.();
  // One timer for all, one look each.
  expect([looks, ticks.length]).toEqual([200, 2]);
  spawner.stop();
});
