// Rows of the bundled application on its defaults: restart under load, accepting a turn, starting it, crashes, memory.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../../chaos/caller.ts";
import { processesOf, signalPid } from "../../chaos/processes.ts";
import { type Bundled, startBundled, until, untilSteady } from "../bundled.ts";
import { type Bench, cpuMs, type Row, residentMiB, scaled, summaryOf } from "../figures.ts";
import { startSteadyLoad } from "../steady-load.ts";
import { measureTurns } from "./turns.ts";

const RESTARTS = scaled(7, 2);

export const productBench: Bench = {
  name: "product",
  async run(log) {
    const bundled = await startBundled();
    try {
      const rows: Row[] = [];
      log("memory");
      rows.push(...(await memory(bundled)));
      log("turns at 100 a second");
      rows.push(...(await measureTurns(bundled)));
      log("restarts under load");
      rows.push(await restarts(bundled));
      return rows;
    } finally {
      await bundled.stop();
    }
  },
};

export const crashesBench: Bench = {
  name: "crashes",
  async run(log) {
    const bundled = await startBundled();
    try {
      return await crashes(bundled, log);
    } finally {
      await bundled.stop();
    }
  },
};

const pidOf = ({ product }: Bundled, kind: string): number => {
  const found = processesOf(product.home).find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found.pid;
};

async function memory(bundled: Bundled): Promise<readonly Row[]> {
  // Two samples' worth of quiet, so that starting up is over.
  await systemClock.sleep(10_000);
  const pid = pidOf(bundled, "supervisor");
  const before = cpuMs(pid);
  await systemClock.sleep(10_000);
  const share = (cpuMs(pid) - before) / 10_000;
  const supervisor = residentMiB(pid);
  const proxy = residentMiB(pidOf(bundled, "proxy"));
  return [
    {
      work: "memory of the supervisor, 2+2 idle",
      goal: "<= 90 MiB",
      measured: `${supervisor.toFixed(0)} MiB`,
      met: supervisor <= 90,
    },
    { work: "memory of the proxy, idle", goal: "<= 90 MiB", measured: `${proxy.toFixed(0)} MiB`, met: proxy <= 90 },
    {
      work: "CPU of the supervisor, 2+2 idle",
      goal: "-",
      measured: `${(share * 100).toFixed(1)} % of a core`,
      met: null,
    },
  ];
}

async function restarts({ product, caller }: Bundled): Promise<Row> {
  const seconds: number[] = [];
  let sent = 0;
  let failed = 0;
  const failures = new Set<string>();
  for (let n = 0; n < RESTARTS; n++) {
    const load = startSteadyLoad(product.port, {
      path: "/api/session",
      clients: 8,
      pauseMs: 50,
      cookie: caller.cookie(),
      post: "/api/conversations",
    });
    await systemClock.sleep(500);
    const from = performance.now();
    const { code, stderr } = await product.ctl("restart", "--all", "--json");
    seconds.push((performance.now() - from) / 1_000);
    if (code !== 0) throw new Error(`restart: ${code} ${stderr}`);
    const figures = await load.stop();
    sent += figures.sent;
    failed += figures.failed;
    for (const one of figures.failures) failures.add(one);
    await untilSteady(product);
  }
  const summary = summaryOf(seconds);
  return {
    work: "`owlctl restart`, 2+2 idle, under load",
    goal: "<= 3 s, 0 failed requests",
    measured: `p50 ${summary.p50.toFixed(1)} s, ${failed} of ${sent} requests failed${failures.size > 0 ? `: ${[...failures].join(", ")}` : ""}`,
    met: summary.p50 <= 3 && failed === 0,
    unit: "s",
    summary,
    note: "the whole command, its own start-up included; about 120 requests/s beside it",
  };
}

/** Children of the supervisor, as the kernel lists them: one small read, so that looking does not slow what is looked at. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** Five crashes of a service within a minute and it is crash-looping: so many are done at a time, then a minute's rest. */
const AT_A_TIME = 4;
const REST_MS = 61_000;

/** kill -9 until the supervisor has a new child. */
async function crash(bundled: Bundled, kind: "web" | "worker", ms: number[]): Promise<void> {
  const { product } = bundled;
  const supervisor = pidOf(bundled, "supervisor");
  for (let n = 0; n < AT_A_TIME; n++) {
    await untilSteady(product);
    await systemClock.sleep(1_000);
    const before = new Set(childrenOf(supervisor));
    const victim = pidOf(bundled, kind);
    const from = performance.now();
    signalPid(victim, "SIGKILL");
    await until(() => childrenOf(supervisor).some((pid) => !before.has(pid)), 30_000, 1);
    ms.push(performance.now() - from);
    await untilSteady(product);
    // A fresh place has no crash behind it, so that the next one too is restarted at once.
    await product.ctl("restart", kind, "--all", "--json");
  }
}

async function crashes(bundled: Bundled, log: (line: string) => void): Promise<readonly Row[]> {
  const ms = { web: [] as number[], worker: [] as number[], reclaim: [] as number[] };
  for (let round = 0; round < 2; round++) {
    log(`crashes, round ${round + 1}`);
    await crash(bundled, "web", ms.web);
    await crash(bundled, "worker", ms.worker);
    await systemClock.sleep(REST_MS);
    await reclaim(bundled, ms.reclaim);
    await systemClock.sleep(round === 0 ? REST_MS : 0);
  }
  const row = (kind: "web" | "worker"): Row => {
    const summary = summaryOf(ms[kind]);
    return {
      work: `crash of a ${kind} instance to its successor spawned`,
      goal: "<= 50 ms",
      measured: `p50 ${summary.p50.toFixed(0)} ms, max ${summary.max.toFixed(0)} ms`,
      met: summary.p50 <= 50,
      unit: "ms",
      summary,
      note: "kill -9 to a new child of the supervisor in /proc",
    };
  };
  const summary = summaryOf(ms.reclaim);
  return [
    row("web"),
    row("worker"),
    {
      work: "crash of the workers to a running turn ended, seen by its client",
      goal: "<= 1 s",
      measured: `p50 ${summary.p50.toFixed(0)} ms, max ${summary.max.toFixed(0)} ms`,
      met: summary.max <= 1_000,
      unit: "ms",
      summary,
    },
  ];
}

/** kill -9 of every worker that has it until the client sees its turn failed. */
async function reclaim({ product, caller }: Bundled, ms: number[]): Promise<void> {
  // Two workers each time: within the four crashes a minute.
  for (let n = 0; n < AT_A_TIME / 2; n++) {
    await untilSteady(product);
    const conversation = textOf((await caller.once("POST", "/api/conversations", { body: {} })).body, "id");
    const posted = await caller.once("POST", `/api/conversations/${conversation}/turns`, {
      body: { text: `say 900 words every 100 ms ${randomUUID()}` },
    });
    const path = `/api/turns/${textOf(posted.body, "turnId")}`;
    const state = async () => textOf((await caller.once("GET", path)).body, "state");
    await until(async () => (await state()) === "running", 10_000, 20);
    const workers = processesOf(product.home).filter((one) => one.kind === "worker");
    const from = performance.now();
    for (const one of workers) signalPid(one.pid, "SIGKILL");
    await until(async () => (await state()) === "failed", 60_000, 5);
    ms.push(performance.now() - from);
    await untilSteady(product);
    await product.ctl("restart", "worker", "--all", "--json");
  }
}
