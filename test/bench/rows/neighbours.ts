// One member beside another who floods: how long B waits for an answer, alone and beside A, in turns, on one product.
// B asks on a fixed beat, whatever the answers do.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { type Caller, textOf } from "../../chaos/caller.ts";
import { makeMember, passwordOf } from "../../chaos/load/floods.ts";
import { makeRecordings } from "../../chaos/outside/recordings.ts";
import { startBundled } from "../bundled.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";

const FLOOD = new URL("../programs/flood.ts", import.meta.url).pathname;
const BLOCKS = scaled(4, 2);
const BLOCK_MS = scaled(30_000, 10_000);
const BEAT_MS = 1_000;
const PATIENCE_MS = 60_000;
const GOAL = 2;

export const neighboursBench: Bench = {
  name: "neighbours",
  async run(log) {
    const parent = await mkdtemp(join(tmpdir(), "owl-neighbours-"));
    const { dir, engine } = await makeRecordings(parent, 40);
    const bundled = await startBundled(
      `archive: {roots: ["${dir}"]}\ntranscription: {engine: command, command: ${JSON.stringify(engine)}}\n`,
      "",
    );
    const members: Caller[] = [];
    let flood: ChildProcess | null = null;
    try {
      const { port } = bundled.product;
      for (const name of ["mina", "jun"]) members.push(await makeMember(bundled.caller, port, name));
      const jun = members[1] as Caller;
      flood = fork(FLOOD, [`${port}`, "mina", passwordOf("mina"), dir]);
      await once(flood, "message");
      await asked(jun, 5_000);
      const alone: number[] = [];
      const beside: number[] = [];
      const statuses: Record<string, number> = {};
      for (let n = 0; n < BLOCKS; n++) {
        alone.push(...(await asked(jun, BLOCK_MS)));
        flood.send("start");
        beside.push(...(await asked(jun, BLOCK_MS)));
        flood.send("stop");
        const [answered] = (await once(flood, "message")) as [Readonly<Record<string, number>>];
        for (const [key, count] of Object.entries(answered)) statuses[key] = (statuses[key] ?? 0) + count;
        log(
          `block ${n + 1} of ${BLOCKS}: alone ${summaryOf(alone).p99.toFixed(0)} ms, beside ${summaryOf(beside).p99.toFixed(0)} ms at p99`,
        );
        await systemClock.sleep(5_000);
      }
      return rows(alone, beside, statuses);
    } finally {
      flood?.kill("SIGKILL");
      for (const one of members) one.close();
      await bundled.stop();
      await rm(parent, { recursive: true, force: true });
    }
  },
};

/** From the beat to the answer, ms, of questions for so long; one that is not answered counts as never. */
async function asked(member: Caller, lengthMs: number): Promise<readonly number[]> {
  const all: Promise<number>[] = [];
  const from = performance.now();
  for (let n = 0; n * BEAT_MS < lengthMs; n++) {
    await systemClock.sleep(Math.max(0, from + n * BEAT_MS - performance.now()));
    all.push(askOnce(member, from + n * BEAT_MS));
  }
  return Promise.all(all);
}

async function askOnce(member: Caller, dueAt: number): Promise<number> {
  const conversation = textOf((await member.once("POST", "/api/conversations", { body: {} })).body, "id");
  const turn = await member.once("POST", `/api/conversations/${conversation}/turns`, { body: { text: "hello" } });
  const id = textOf(turn.body, "turnId");
  while (id !== "" && performance.now() - dueAt < PATIENCE_MS) {
    const state = textOf((await member.once("GET", `/api/turns/${id}`)).body, "state");
    if (state === "answered") return performance.now() - dueAt;
    if (state === "failed" || state === "stopped") break;
    await systemClock.sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}

function rows(
  alone: readonly number[],
  beside: readonly number[],
  statuses: Readonly<Record<string, number>>,
): readonly Row[] {
  const [quiet, loud] = [summaryOf(alone), summaryOf(beside)];
  const ratio = loud.p99 / quiet.p99;
  const lost = [...alone, ...beside].filter((ms) => ms === Number.POSITIVE_INFINITY).length;
  const what = "question every second to its answer";
  return [
    {
      work: `${what}, alone`,
      goal: "-",
      measured: `p99 ${quiet.p99.toFixed(0)} ms`,
      met: null,
      unit: "ms",
      summary: quiet,
    },
    {
      work: `${what}, beside a member who floods`,
      goal: `p99 at most ${GOAL}x alone, every one answered`,
      measured: `${ratio.toFixed(2)}x at p99, ${(loud.p50 / quiet.p50).toFixed(2)}x at the median; ${lost} not answered`,
      met: ratio <= GOAL && lost === 0,
      unit: "ms",
      summary: loud,
      note: `the flood was answered: ${Object.entries(statuses)
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([key, count]) => `${key} x${count}`)
        .join(", ")}`,
    },
  ];
}
