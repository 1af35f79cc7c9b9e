// npm run bench [-- NAME…] [--quick]: every row of the performance goals, or only the named benchmarks; `proxy` takes
// options of its own and runs alone. Prints a Markdown table, writes JSON and Markdown into .build/bench/; `--quick`
// takes about a minute a part; `--cases=a,b` takes of bad-changes only the cases with that in their name.
// A benchmark that fails is a row that says so: the others still run, and the exit code is 1.

import { mkdirSync, writeFileSync } from "node:fs";
import { systemClock } from "../../config/system-time.ts";
import { isoTime } from "../../config/time.ts";
import { type Bench, hardware, isQuick, type Row, tableOf } from "./figures.ts";
import { graphileBench } from "./peers/graphile-worker.ts";
import { pm2Bench } from "./peers/pm2.ts";
import { benchProxy } from "./proxy/run.ts";
import { approvalsBench } from "./rows/approvals.ts";
import { backupBench } from "./rows/backup.ts";
import { badChangesBench } from "./rows/bad-changes.ts";
import { instancesBench } from "./rows/instances.ts";
import { leakBench } from "./rows/leak.ts";
import { longRestartBench } from "./rows/long-restart.ts";
import { neighboursBench } from "./rows/neighbours.ts";
import { crashesBench, productBench } from "./rows/product.ts";
import { resumeBench } from "./rows/resume.ts";
import { rolloversBench } from "./rows/rollovers.ts";
import { startBench } from "./rows/start.ts";
import { streamsBench } from "./rows/streams.ts";
import { millionJobsBench } from "./scale/million-jobs.ts";
import { millionRowsBench } from "./scale/million-rows.ts";
import { rolloutsBench } from "./scale/rollouts.ts";

const BENCHES: readonly Bench[] = [
  productBench,
  crashesBench,
  startBench,
  longRestartBench,
  resumeBench,
  approvalsBench,
  backupBench,
  rolloversBench,
  streamsBench,
  leakBench,
  badChangesBench,
  instancesBench,
  neighboursBench,
  millionJobsBench,
  millionRowsBench,
  rolloutsBench,
  pm2Bench,
  graphileBench,
];
const DIR = ".build/bench";
/** One that has not ended by then is a row that says so; what it started ends with this process. */
const LONGEST_MS = 60 * 60_000;

async function withinTime(bench: Bench): Promise<readonly Row[]> {
  const over = new AbortController();
  const late = systemClock.sleep(LONGEST_MS, over.signal).then(() => {
    throw new Error(`it had not ended after ${LONGEST_MS / 60_000} minutes`);
  });
  // Ended first by the bench's own end.
  late.catch(() => undefined);
  try {
    return await Promise.race([bench.run((line) => process.stderr.write(`  ${line}\n`)), late]);
  } finally {
    over.abort();
  }
}

async function runAll(names: readonly string[]): Promise<number> {
  const machine = hardware();
  const at = isoTime(systemClock.now());
  const rows: Row[] = [];
  let broken = 0;
  for (const bench of BENCHES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    process.stderr.write(`${bench.name} …\n`);
    try {
      rows.push(...(await withinTime(bench)));
    } catch (error) {
      broken += 1;
      process.stderr.write(`${(error as Error).stack}\n`);
      rows.push({
        work: bench.name,
        goal: "-",
        measured: `could not be measured: ${(error as Error).message.split("\n")[0]}`,
        met: null,
      });
    }
  }
  const { processor, cores, memoryGiB, kernel, node, load } = machine;
  const lines = [
    `# Benchmark of ${at}${isQuick ? " (quick: orders of magnitude)" : ""}`,
    "",
    `${processor}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}, Node ${node}; load averages at the start ${load.join(", ")}.`,
    "Client, model endpoint and everything measured share these cores.",
    "",
    ...tableOf(rows),
  ];
  const text = `${lines.join("\n")}\n`;
  process.stdout.write(text);
  mkdirSync(DIR, { recursive: true });
  writeFileSync(`${DIR}/bench.md`, text);
  writeFileSync(`${DIR}/bench.json`, `${JSON.stringify({ at, isQuick, hardware: machine, rows }, null, 2)}\n`);
  if (names.length === 0) await benchProxy([]);
  return broken > 0 ? 1 : 0;
}

const [first = "", ...rest] = process.argv
  .slice(2)
  .filter((word) => word !== "--quick" && !word.startsWith("--cases="));
const names = first === "" ? [] : [first, ...rest];
const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (first === "proxy") await benchProxy(rest);
else if (unknown.length > 0) {
  const all = [...BENCHES.map(({ name }) => name), "proxy"].join(", ");
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${all}.\n`);
  process.exitCode = 2;
} else process.exit(await runAll(names));
