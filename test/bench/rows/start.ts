// What starting costs, in multiples of a bare start of the same Node: machines differ, so each round measures that, too.
// CPU where one process is meant, elapsed time where somebody waits.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { processesOf, signalPid } from "../../chaos/processes.ts";
import { type Bundled, startBundled, until, untilSteady } from "../bundled.ts";
import { type Bench, cpuMs, type Row, residentMiB, scaled, summaryOf } from "../figures.ts";

const ROUNDS = scaled(4, 1);
/** Five crashes of a service within a minute would be crash-looping; these are two a round. */
const REST_MS = scaled(30_000, 5_000);

const GOALS = {
  web: { work: "CPU of a web from spawn to ready", most: 5 },
  worker: { work: "CPU of a worker from spawn to ready", most: 4 },
  crash: { work: "a web crashes until another one serves", most: 7 },
  restart: { work: "`owlctl restart` of 2+2, idle", most: 15 },
  start: { work: "`npm start` a second time until all is steady", most: 30 },
} as const;
type Figure = keyof typeof GOALS;

export const startBench: Bench = {
  name: "start",
  async run(log) {
    const bundled = await startBundled();
    const multiples: Record<Figure, number[]> = { web: [], worker: [], crash: [], restart: [], start: [] };
    const resident: Record<"web" | "worker", number[]> = { web: [], worker: [] };
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const bare = bareStart();
        const figures = await measureRound(bundled, resident);
        for (const [name, { cpu, elapsed }] of Object.entries(figures) as [Figure, Cost][])
          multiples[name].push(cpu === null ? elapsed / bare.elapsed : cpu / bare.cpu);
        log(
          `round ${round} of ${ROUNDS}: a bare start took ${bare.cpu.toFixed(0)} ms of CPU, ${bare.elapsed.toFixed(0)} ms`,
        );
        await systemClock.sleep(REST_MS);
      }
    } finally {
      await bundled.stop();
    }
    const rows = (Object.keys(GOALS) as Figure[]).map((name) => rowOf(name, multiples[name]));
    return [...rows, ...(["web", "worker"] as const).map((kind) => memoryOf(kind, resident[kind]))];
  },
};

interface Cost {
  /** Null where somebody waits. */
  readonly cpu: number | null;
  readonly elapsed: number;
}

/** `node -e 0` in ms: the middle one of five. */
function bareStart(): { readonly cpu: number; readonly elapsed: number } {
  const runs = Array.from({ length: 5 }, () => {
    const from = performance.now();
    const script = 'TIMEFORMAT="%U %S"; time "$1" -e 0';
    const { stderr } = spawnSync("bash", ["-c", script, "bash", process.execPath], { encoding: "utf8" });
    const [user = 0, system = 0] = stderr.trim().split(" ").map(Number);
    return { cpu: (user + system) * 1_000, elapsed: performance.now() - from };
  });
  return { cpu: summaryOf(runs.map(({ cpu }) => cpu)).p50, elapsed: summaryOf(runs.map(({ elapsed }) => elapsed)).p50 };
}

async function measureRound(
  bundled: Bundled,
  resident: Readonly<Record<"web" | "worker", number[]>>,
): Promise<Readonly<Record<Figure, Cost>>> {
  const { product } = bundled;
  const elapsedOf = async (act: () => Promise<unknown>): Promise<Cost> => {
    const from = performance.now();
    await act();
    return { cpu: null, elapsed: performance.now() - from };
  };
  const restart = await elapsedOf(async () => {
    const { code, stderr } = await product.ctl("restart", "--all", "--json");
    if (code !== 0) throw new Error(`restart: ${code} ${stderr}`);
  });
  await untilSteady(product);
  const web = await replaced(bundled, "web");
  const worker = await replaced(bundled, "worker");
  await systemClock.sleep(10_000);
  for (const kind of ["web", "worker"] as const)
    for (const one of processesOf(product.home)) if (one.kind === kind) resident[kind].push(residentMiB(one.pid));
  await product.stop(true);
  await until(() => !existsSync(join(product.home, "run/control.sock")), 60_000, 50);
  const start = await elapsedOf(async () => {
    product.start();
    await untilSteady(product);
  });
  return {
    web: { cpu: web.cpu, elapsed: 0 },
    worker: { cpu: worker.cpu, elapsed: 0 },
    crash: { cpu: null, elapsed: web.elapsed },
    restart,
    start,
  };
}

/** One of them killed: what its successor had used when it was ready, and how long it took. */
async function replaced(
  { product }: Bundled,
  kind: "web" | "worker",
): Promise<{ readonly cpu: number; readonly elapsed: number }> {
  const before = new Set(processesOf(product.home).map(({ pid }) => pid));
  const victim = processesOf(product.home).find((one) => one.kind === kind);
  if (victim === undefined) throw new Error(`no ${kind}`);
  const from = performance.now();
  signalPid(victim.pid, "SIGKILL");
  await until(() => !processesOf(product.home).some(({ pid }) => pid === victim.pid), 30_000);
  await until(async () => {
    const status = await product.status();
    const service = status?.services.find(({ name }) => name === kind);
    return (
      service !== undefined &&
      service.ready === service.replicas &&
      !service.instances.some(({ pid }) => pid === victim.pid)
    );
  }, 120_000);
  const elapsed = performance.now() - from;
  const next = processesOf(product.home).find((one) => one.kind === kind && !before.has(one.pid));
  if (next === undefined) throw new Error(`no new ${kind}`);
  return { cpu: cpuMs(next.pid), elapsed };
}

function rowOf(name: Figure, multiples: readonly number[]): Row {
  const { work, most } = GOALS[name];
  const summary = summaryOf(multiples);
  return {
    work,
    goal: `<= ${most}x a bare start`,
    measured: `${summary.p50.toFixed(1)}x`,
    met: summary.p50 <= most,
    unit: "x",
    summary,
  };
}

function memoryOf(kind: string, resident: readonly number[]): Row {
  const summary = summaryOf(resident);
  return {
    work: `memory of a ${kind}, idle`,
    goal: "<= 90 MiB",
    measured: `${summary.p50.toFixed(0)} MiB`,
    met: summary.p50 <= 90,
    unit: "MiB",
    summary,
  };
}
