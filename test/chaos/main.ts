// npm run chaos -- [--seed N] [--minutes M] [--faults a,b] [--seeds K]: the product hurt by plan, its promises checked
// from outside. Exit code 0: none is broken; 1: some are (seed, objects and timeline are printed); 2: wrong use.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { systemClock } from "../../config/system-time.ts";
import { runLosses } from "./losses.ts";
import { FAULT_NAMES, type FaultName, faultNames, isWithin } from "./plan/schedule.ts";
import { type ChaosReleases, makeObedientRoot, makeReleases } from "./releases.ts";
import { reportLines } from "./report.ts";
import { runChaos } from "./run.ts";

/** 128 + SIGINT, as shells tell it. */
const INTERRUPTED = 130;

const USAGE = `npm run chaos -- [options]
  --seed N         the run's seed (default: from the clock; it is printed)
  --seeds K        K runs, with seeds N, N+1, … (default 1)
  --minutes M      how long faults are made, each run (default 5)
  --faults a,b     only these faults ("none": operations alone)
  --every SECONDS  mean distance of two faults (default 7)
  --no-updates     restarts only: no releases are built, no update or rollback is made
  --no-operations  nor restarts: faults alone (60 s of a flooding member: --faults disorder --no-operations --every 60 --minutes 2)
  --out FILE       the whole report as JSON
  --keep           leave the home behind
  --quiet          no timeline while it runs
  --losses N       instead: N whole installations lose their home at a random moment and are restored
faults: ${FAULT_NAMES.join(", ")}`;

/** A signal must not leave a whole Owl running behind: it is stopped first. A second signal ends at once. */
const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(INTERRUPTED);
    process.stderr.write("Interrupted: what runs is stopped first; once more ends at once.\n");
    interruption.abort();
  });

async function main(): Promise<number> {
  let wanted: ReturnType<typeof read>;
  try {
    wanted = read();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    return 2;
  }
  if (wanted.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (wanted.losses > 0) return await runLosses(wanted.seed, wanted.losses, interruption.signal);
  const root = wanted.faults.some(isWithin) ? await makeObedientRoot() : null;
  const releases = wanted.updates ? await makeReleases() : null;
  try {
    return await runAll(wanted, root?.path ?? null, releases);
  } finally {
    await releases?.remove();
    await root?.remove();
  }
}

/** Every seed in turn; the report file is written anew after each, so that a stopped series is not lost. */
async function runAll(
  wanted: ReturnType<typeof read>,
  root: string | null,
  releases: ChaosReleases | null,
): Promise<number> {
  let violations = 0;
  const reports: object[] = [];
  for (let n = 0; n < wanted.seeds; n++) {
    const seed = wanted.seed + n;
    const report = await runChaos({
      seed,
      minutes: wanted.minutes,
      faults: wanted.faults,
      faultEveryMs: wanted.everyMs,
      operationEveryMs: 15_000,
      root,
      releases,
      strict: true,
      isLeftAlone: !wanted.operations,
      load: { turns: 5, playbooks: 2, plain: 4, recordings: 8 },
      echo: wanted.quiet ? () => undefined : (line) => process.stderr.write(`${line}\n`),
      keep: wanted.keep,
      interrupted: interruption.signal,
    }).catch((error: Error) => {
      if (interruption.signal.aborted) throw error;
      // Not even begun, or given up in the middle: the other seeds are still run.
      process.stdout.write(`\nseed ${seed} came to no end: ${error.stack}\n`);
      return null;
    });
    if (report === null) {
      violations += 1;
      continue;
    }
    violations += report.violations.length;
    process.stdout.write(`${reportLines(report).join("\n")}\n`);
    const { timeline, ...rest } = report;
    reports.push({ ...rest, notes: timeline.notes });
    if (wanted.out) writeFileSync(wanted.out, JSON.stringify(reports, null, 1));
  }
  return violations > 0 ? 1 : 0;
}

function read() {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      seeds: { type: "string", default: "1" },
      minutes: { type: "string", default: "5" },
      faults: { type: "string" },
      every: { type: "string", default: "7" },
      out: { type: "string" },
      "no-updates": { type: "boolean", default: false },
      "no-operations": { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      losses: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const number = (name: string, text: string) => {
    const value = Number(text);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0, not ${text}.`);
    return value;
  };
  const faults: readonly FaultName[] = values.faults === undefined ? FAULT_NAMES : faultNames(values.faults);
  return {
    seed:
      values.seed === undefined
        ? Math.floor(systemClock.now() / 1_000) % 1_000_000
        : Math.floor(number("seed", values.seed)),
    seeds: Math.floor(number("seeds", values.seeds)),
    minutes: number("minutes", values.minutes),
    everyMs: number("every", values.every) * 1_000,
    faults,
    out: values.out,
    updates: !values["no-updates"] && !values["no-operations"],
    operations: !values["no-operations"],
    keep: values.keep,
    quiet: values.quiet,
    losses: values.losses === undefined ? 0 : Math.floor(number("losses", values.losses)),
    help: values.help,
  };
}

const code = await main().catch((error: unknown) => {
  if (!interruption.signal.aborted) throw error;
  return INTERRUPTED;
});
// Of an interrupted run the load is still under way.
if (interruption.signal.aborted) process.exit(code);
process.exitCode = code;
