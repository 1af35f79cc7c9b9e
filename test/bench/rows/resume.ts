// Turns and runs of six and more steps while workers are killed at random: what is answered, what waits for a person, how
// soon another worker goes on; nothing that acts is called twice, and nothing that finished is called again.

import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { type Caller, listOf, textOf } from "../../chaos/caller.ts";
import { signalPid } from "../../chaos/processes.ts";
import { startBundled, until } from "../bundled.ts";
import { startCallCounter } from "../call-counter.ts";
import { type Bench, type Row, scaled, summaryOf } from "../figures.ts";

/** Half of them turns, half of them runs. */
const WORK = scaled(1_000, 60);
const TOGETHER = 8;
const KILL_EVERY_MS = 10_000;
const READ_MS = 300;
const WRITE_MS = 20;

const stepsOf = (url: string) => {
  const http = (id: string, path: string, more: object, ms: number) => ({
    id,
    tool: "http",
    input: { url: `${url}/${path}?ms=${ms}`, ...(path === "read" ? {} : { method: "POST", body: {} }) },
    ...more,
  });
  return [
    { id: "rows", tool: "sql", input: { dataSource: "demo", sql: `SELECT 1 AS n FROM pg_sleep(${READ_MS / 1_000})` } },
    http("read1", "read", {}, READ_MS),
    http("write1", "write", {}, WRITE_MS),
    http("again1", "again", { effect: "idempotent" }, READ_MS),
    http("write2", "write", {}, WRITE_MS),
    http("again2", "again", { effect: "idempotent" }, READ_MS),
  ];
};

interface Ended {
  readonly path: string;
  readonly state: string;
  readonly waited: boolean;
  readonly message: string;
}

/** To its end; where it waits for its owner, that owner looks and says what is true. */
async function toItsEnd(caller: Caller, path: string, happened: (step: string) => boolean): Promise<Ended> {
  let waited = false;
  for (;;) {
    const { body } = await caller.insist("GET", path, {}, systemClock.now() + 60_000);
    const state = textOf(body, "state");
    if (["answered", "done", "failed", "stopped"].includes(state))
      return { path, state, waited, message: textOf(body, "message") };
    for (const step of state === "waiting" ? listOf(body, "waitsFor") : []) {
      waited = true;
      const word = {
        answer: happened(String(step.id)) ? "happened" : "again",
        name: step.name,
        argumentHash: step.argumentHash,
      };
      await caller.once("POST", `${path}/steps/${step.n}/answer`, { body: word });
    }
    await systemClock.sleep(200);
  }
}

export const resumeBench: Bench = {
  name: "resume",
  async run(log) {
    const counter = await startCallCounter();
    const bundled = await startBundled('worker: {replicas: 3}\ntools: {http: {allow: ["127.0.0.1"]}}\n');
    const { product, caller, model } = bundled;
    try {
      await until(async () => (await workersOf()).length === 3, 60_000, 100);
      const steps = stepsOf(counter.url);
      const made = await caller.once("POST", "/api/playbooks", { body: { name: "six steps", steps } });
      const playbook = textOf(made.body, "id");
      const kills: number[] = [];
      const over = new AbortController();
      const killer = (async () => {
        for await (const _ of systemClock.every(KILL_EVERY_MS, over.signal)) {
          const workers = await workersOf();
          const one = workers[Math.floor(systemRandom.float() * workers.length)];
          if (one === undefined || !signalPid(one, "SIGKILL")) continue;
          kills.push(systemClock.now());
        }
      })();
      const texts = new Map<string, string>();
      const ended: Ended[] = [];
      let next = 0;
      const client = async () => {
        for (;;) {
          const n = next++;
          if (n >= WORK) return;
          const path = n % 2 === 0 ? await ask(n) : await run();
          const runId = path.split("/").at(-1) ?? "";
          ended.push(await toItsEnd(caller, path, (step) => (counter.calls.get(`${runId}:${step}`)?.length ?? 0) > 0));
          if (ended.length % 50 === 0) log(`${ended.length} ended, ${kills.length} kills`);
        }
      };
      const ask = async (n: number) => {
        const made = await caller.insist("POST", "/api/conversations", { body: {} }, systemClock.now() + 60_000);
        const sql = [1, 2, 3].map((k) => `SELECT ${k} AS n FROM pg_sleep(${READ_MS / 1_000})`).join(" | ");
        const text = `${n} steps: ${sql}`;
        const sending = { body: { text }, key: `resume-${n}` };
        const where = `/api/conversations/${textOf(made.body, "id")}/turns`;
        const asked = await caller.insist("POST", where, sending, systemClock.now() + 60_000);
        const path = `/api/turns/${textOf(asked.body, "turnId")}`;
        texts.set(path, text);
        return path;
      };
      const run = async () => {
        const begun = await caller.once("POST", `/api/playbooks/${playbook}/runs`, { body: {} });
        return `/api/playbook-runs/${textOf(begun.body, "runId")}`;
      };
      const from = performance.now();
      await Promise.all(Array.from({ length: TOGETHER }, client));
      const seconds = (performance.now() - from) / 1_000;
      over.abort();
      await killer;

      const resumed: number[] = [];
      let interrupted = 0;
      let calledAgain = 0;
      for (const [path, text] of texts) {
        const { body } = await caller.once("GET", `${path}/steps`);
        if (Number(body.attempts) > 1) interrupted += 1;
        let attempt = 1;
        for (const step of listOf(body, "steps").toSorted((a, b) => Number(a.n) - Number(b.n))) {
          if (Number(step.attempt) <= attempt) continue;
          attempt = Number(step.attempt);
          const at = Date.parse(String(step.startedAt));
          const kill = kills.findLast((killed) => killed <= at);
          if (kill !== undefined) resumed.push(at - kill);
        }
        // The model was asked with fewer results after it had been asked with more: something finished was done again.
        const results = model.seen.get(text)?.results ?? [];
        calledAgain += results.filter((count, index) => count < Math.max(0, ...results.slice(0, index))).length;
      }
      let doubled = 0;
      const order = steps.map(({ id }) => id);
      for (const [key, calls] of counter.calls) {
        const [runId, step = ""] = key.split(":");
        if (step.startsWith("write") && calls.length > 1) doubled += calls.length - 1;
        const later = order.slice(order.indexOf(step) + 1).flatMap((id) => counter.calls.get(`${runId}:${id}`) ?? []);
        const passedAt = Math.min(...later);
        calledAgain += calls.filter((at) => at > passedAt).length;
      }
      const answered = ended.filter(({ state }) => state === "answered" || state === "done");
      const alone = answered.filter(({ waited }) => !waited).length;
      const silent = ended.filter(({ state, message }) => state === "failed" && message === "").length;
      for (const { path, state, message } of ended) if (state === "failed") log(`${path}: ${message}`);
      const repeats = [...counter.calls.values()].filter((calls) => calls.length > 1).length;
      const rows: Row[] = [
        {
          work: `${WORK} turns and runs of 6 and 7 steps, a worker of 3 killed every ${KILL_EVERY_MS / 1_000} s`,
          goal: ">= 99 % answered, the rest waiting or failed with a reason; 0 writes doubled, 0 finished steps called again",
          measured:
            `${alone} answered by themselves, ${answered.length - alone} after their owner's word, ${ended.length - answered.length} failed ` +
            `(${silent} without a reason); ${kills.length} kills in ${seconds.toFixed(0)} s, ${interrupted} of ${texts.size} turns interrupted, ` +
            `${repeats} calls in progress repeated; ${doubled} writes doubled, ${calledAgain} finished steps called again`,
          met: answered.length >= 0.99 * WORK && doubled === 0 && calledAgain === 0 && silent === 0,
        },
      ];
      if (resumed.length > 0) {
        const summary = summaryOf(resumed);
        const measured = `p50 ${summary.p50.toFixed(0)} ms, p95 ${summary.p95.toFixed(0)} ms`;
        const work = "kill -9 of a turn's worker to its next step begun by another one";
        rows.push({ work, goal: "p95 < 5 s", measured, met: summary.p95 < 5_000, unit: "ms", summary });
      }
      return rows;
    } finally {
      counter.stop();
      await bundled.stop();
    }

    async function workersOf(): Promise<readonly number[]> {
      const worker = (await product.status())?.services.find(({ name }) => name === "worker");
      return (worker?.instances ?? []).flatMap(({ pid, state }) => (state === "ready" && pid !== null ? [pid] : []));
    }
  },
};
