// One chaos run: the product is started, loaded, hurt by plan, left alone, and then judged by what was seen outside.

import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../config/system-time.ts";
import { createCaller, listOf, textOf } from "./caller.ts";
import { watchDatabase } from "./checks/database.ts";
import { checkEnding } from "./checks/ending.ts";
import { checkLeft } from "./checks/left.ts";
import { operate } from "./checks/operations.ts";
import { checkPlans } from "./checks/plans.ts";
import { watchReplicas } from "./checks/replicas.ts";
import { checkBatches, checkPlain, checkPlaybooks, checkTurns } from "./checks/work.ts";
import { createDisturbances } from "./disturbances.ts";
import { createInjector } from "./faults/inject.ts";
import { MEMORY_LIMIT_MIB } from "./faults/within.ts";
import { createJumpingClock } from "./jumping-clock.ts";
import { runBatch, runBatches } from "./load/batches.ts";
import type { LoadContext } from "./load/load.ts";
import { sendPlain } from "./load/plain.ts";
import { runPlaybooks } from "./load/playbooks.ts";
import { askTurns } from "./load/turns.ts";
import { startMailServer } from "./outside/mail-server.ts";
import { startModelEndpoint } from "./outside/model-endpoint.ts";
import { makeRecordings } from "./outside/recordings.ts";
import { startToolServer } from "./outside/tool-server.ts";
import { type FaultName, isHungry, isWithin, OPERATIONS, planSchedule, UPDATES } from "./plan/schedule.ts";
import { createSeededRandom } from "./plan/seeded-random.ts";
import { createProduct } from "./product.ts";
import type { ChaosReleases } from "./releases.ts";
import type { Report } from "./report.ts";
import { createSlowDisk } from "./slow-disk.ts";
import { createSmallDisk } from "./small-disk.ts";
import { createTimeline } from "./timeline.ts";

export interface RunWanted {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: readonly FaultName[];
  readonly faultEveryMs: number;
  readonly operationEveryMs: number;
  /** The code that is started; null: this checkout, in which no fault from within can be made. */
  readonly root: string | null;
  /** What updates go to; null: no update in this run. */
  readonly releases: Omit<ChaosReleases, "remove"> | null;
  /** Lanes of turns, playbooks, plain requests; recordings of the archive. */
  readonly load: {
    readonly turns: number;
    readonly playbooks: number;
    readonly plain: number;
    readonly recordings: number;
  };
  /** Waits of the product are judged too. Not in `npm test`: it runs on machines of any speed. */
  readonly strict: boolean;
  /** The operator does nothing. */
  readonly isLeftAlone?: boolean;
  readonly echo: (line: string) => void;
  /** The home stays, for a person to look into. */
  readonly keep: boolean;
  /** Ends the run early: the product is stopped all the same, then the run rejects. */
  readonly interrupted?: AbortSignal;
}

/** The product's budgets in a chaos run: those of the specification, scaled down. */
const BUDGET = { graceMs: 12_000, finishMs: 6_000, wrapUpMs: 3_000, claimMs: 20_000, limitMs: 30_000 };
const MEMORY = `{memory: {limit: ${MEMORY_LIMIT_MIB}MiB}}`;
const STEADY_MS = 60_000;
const START_MS = 180_000;
/** After the last fault everything accepted must come to its end within this. */
const SETTLE_MS = BUDGET.claimMs + BUDGET.limitMs + 60_000;
const REPLICAS = 2;
const STALLED_AFTER_MS = 5_000;
/** Longest wait of a turn for its handler while nothing is in the way: far above its need, below the claim limit. */
const WAIT_MS = 10_000;

export async function runChaos(wanted: RunWanted): Promise<Report> {
  if (wanted.root === null && wanted.faults.some(isWithin))
    throw new Error("Faults from within need an obedient web and worker: give a root (makeObedientRoot).");
  const timeline = createTimeline(wanted.echo);
  const disturbances = createDisturbances();
  const random = createSeededRandom(wanted.seed);
  const lengthMs = wanted.minutes * 60_000;
  const { faultEveryMs, operationEveryMs, releases, strict } = wanted;
  const orders = releases === null ? OPERATIONS : [...OPERATIONS, ...UPDATES];
  const operations = wanted.isLeftAlone ? [] : orders;
  const plan = { lengthMs, names: wanted.faults, faultEveryMs, operationEveryMs, operations };
  const schedule = planSchedule(random, plan);
  const [model, tools, mail] = await Promise.all([startModelEndpoint(), startToolServer(), startMailServer()]);
  const disk = createSmallDisk(wanted.faults.includes("disk-full"));
  const slowDisk = createSlowDisk(wanted.faults.includes("slow-disk"));
  const clock = createJumpingClock(wanted.faults.includes("clock-jump"));
  let archive = { dir: "", count: 0 };
  const product = await createProduct({
    root: wanted.root,
    yaml: (home) => `
stop: {grace: 12s}
turn: {finish: 6s, wrapUp: 3s, claim: 20s, limit: 30s}
rollout: {confirm: 3s, healthTimeout: 60s}
heartbeat: {interval: 1s, stalledAfter: 5s}
model: {baseUrl: "${model.baseUrl}", apiKey: x, name: stub}
mail: {smtp: "${mail.url}", from: "owl@example.org"}
tools: {http: {allow: ["127.0.0.1"]}}
archive: {roots: ["${home}/recordings/archive"]}
transcription: {engine: command, command: ["${home}/recordings/engine.sh", "{file}"]}
${wanted.faults.some(isHungry) ? `web: ${MEMORY}\nworker: ${MEMORY}` : ""}
`,
    prepare: async (home) => {
      await disk.mount(join(home, "state"));
      await slowDisk.mount(`${home}.disk`, join(home, "postgres"));
      await mkdir(join(home, "recordings"));
      archive = await makeRecordings(join(home, "recordings"), wanted.load.recordings);
      return clock.prepare(home);
    },
    async release(home) {
      await disk.unmount(join(home, "state"));
      await slowDisk.unmount(join(home, "postgres"));
      await rm(`${home}.disk`, { force: true });
    },
  });
  let left: readonly string[] = [];
  let logs: string | null = null;
  const watching = new AbortController();
  let kept = Promise.resolve();
  let figures: Report["figures"] = {};
  let injected: Report["injected"] = {};
  const interrupted = Promise.withResolvers<never>();
  interrupted.promise.catch(() => undefined);
  const interrupt = (): void => interrupted.reject(new Error("It was interrupted."));
  wanted.interrupted?.addEventListener("abort", interrupt);
  if (wanted.interrupted?.aborted) interrupt();
  try {
    const course = takeCourse();
    course.catch(() => undefined);
    await Promise.race([course, interrupted.promise]);
  } finally {
    watching.abort();
    await kept;
    left = await product.stop(wanted.keep, (still) => {
      const broken = still.length > 0 || timeline.violations.length > 0;
      logs = broken ? join(tmpdir(), `owl-chaos-seed-${wanted.seed}`) : null;
      return logs;
    });
    if (left.length > 0) timeline.violation("processes were left behind after an orderly stop", { left });
    else timeline.note("stopped, nothing left behind");
    await Promise.all([model.stop(), tools.stop(), mail.stop()]);
  }
  return {
    seed: wanted.seed,
    minutes: wanted.minutes,
    schedule,
    injected,
    figures,
    violations: timeline.violations,
    logs: wanted.keep ? product.home : logs,
    timeline,
  };

  async function takeCourse(): Promise<void> {
    timeline.note("seed", {
      seed: wanted.seed,
      minutes: wanted.minutes,
      faults: schedule.faults.length,
      operations: schedule.operations.length,
      home: product.home,
    });
    product.start();
    await untilSteady(START_MS);
    timeline.note("steady");
    kept = product.keepUp(createSeededRandom(wanted.seed + 0.5 * 2 ** 31), watching.signal);
    const caller = createCaller(product.port);
    if (!(await caller.signIn())) throw new Error("could not sign in");
    let giveUpAt = Number.POSITIVE_INFINITY;
    const ending = new AbortController();
    const context = (stream: number): LoadContext => ({
      caller,
      timeline,
      // A stream of chance of its own for each load: their order of asking must not matter.
      random: createSeededRandom(wanted.seed * 1_000 + stream),
      ending: ending.signal,
      giveUpAt: () => giveUpAt,
    });
    const undisturbed = await runBatch(context(0), archive.dir, "undisturbed");
    if (undisturbed === null || undisturbed.state !== "done")
      throw new Error(`the first batch did not succeed: ${JSON.stringify(undisturbed)}`);
    timeline.note("the undisturbed batch is done");
    await checkPlans(product, timeline);

    const turns = askTurns(context(1), product.port, wanted.load.turns);
    const playbooks = runPlaybooks(context(2), { tools: tools.url }, wanted.load.playbooks);
    const batches = runBatches(context(3), archive.dir);
    const plain = sendPlain(context(4), wanted.load.plain);
    const watched = watchReplicas({ home: product.home, timeline, disturbances, replicas: REPLICAS }, watching.signal);
    const database = { home: product.home, timeline, disturbances, declared: await product.declared() };
    const looking = watchDatabase({ ...database, stalledAfterMs: strict ? STALLED_AFTER_MS : null }, watching.signal);

    const places = { smallState: disk.mounted, slowDisk, clock };
    const injector = createInjector({ product, disturbances, timeline, graceMs: BUDGET.graceMs, strict, ...places });
    const from = systemClock.now();
    const at = (ms: number) => systemClock.sleep(Math.max(0, from + ms - systemClock.now()));
    await Promise.all([
      at(lengthMs),
      ...schedule.faults.map((fault) =>
        at(fault.atMs)
          .then(() => injector.inject(fault))
          .catch((error: Error) => timeline.note("a fault could not be done", { fault, error: error.message })),
      ),
      ...schedule.operations.map((operation) =>
        at(operation.atMs).then(() => operate({ product, timeline, disturbances, releases }, operation.name)),
      ),
    ]);
    injected = Object.fromEntries(injector.done);

    const lastFaultAt = systemClock.now();
    timeline.note("the last fault is over");
    const steady = await untilSteady(STEADY_MS).then(
      () => true,
      () => false,
    );
    const steadyMs = systemClock.now() - lastFaultAt;
    if (steady) timeline.note("steady again", { afterMs: steadyMs });
    else timeline.violation("not steady within 60 s after the last fault", { status: await product.status() });
    giveUpAt = systemClock.now() + SETTLE_MS;
    ending.abort();
    await Promise.all([turns.done, playbooks.done, batches.done, plain.done]);
    watching.abort();
    const looks = await watched;
    const databaseLooks = await looking;

    const check = { timeline, disturbances };
    checkTurns(check, turns.records, model, { ...BUDGET, waitMs: strict ? WAIT_MS : null });
    await checkKept(turns.records);
    checkPlaybooks(check, playbooks.records, tools, mail);
    checkBatches(check, batches.records, undisturbed);
    checkPlain(check, plain.records, await titles());
    await checkEnding({ home: product.home, timeline });
    await checkLeft(product, timeline);
    const byState = (states: readonly { readonly state: string }[]) => {
      const counts: Record<string, number> = {};
      for (const { state } of states) counts[state || "open"] = (counts[state || "open"] ?? 0) + 1;
      return counts;
    };
    figures = {
      turns: byState(turns.records),
      playbookRuns: byState(playbooks.records),
      batches: byState(batches.records),
      batchItems: batches.records.reduce((sum, batch) => sum + batch.items.length, 0),
      plainRequests: plain.records.length,
      plainFailedExcused: plain.records.filter(({ answer }) => answer.status === null || answer.status >= 400).length,
      looksAtReplicas: looks,
      looksAtDatabase: databaseLooks,
      steadyAfterMs: steadyMs,
    };
    caller.close();

    /** Ended turns are still ended, the same way; and each conversation holds exactly the one turn that was accepted. */
    async function checkKept(records: typeof turns.records): Promise<void> {
      for (const turn of records) {
        const answer = await caller.insist("GET", `/api/conversations/${turn.conversationId}`, {}, giveUpAt);
        const kept = listOf(answer.body, "turns");
        const [only] = kept;
        if (kept.length !== 1 || only === undefined || textOf(only, "id") !== turn.turnId)
          timeline.violation("a conversation does not hold exactly its one accepted turn", {
            turn,
            kept: kept.map((one) => one.id),
          });
        else if (turn.endedAt > 0 && (textOf(only, "state") !== turn.state || textOf(only, "answer") !== turn.answer))
          timeline.violation("a turn changed after it had ended", { turn, now: only });
      }
    }

    async function titles(): Promise<readonly string[]> {
      const found: string[] = [];
      for (let next: string | null = ""; next !== null; ) {
        const path = `/api/conversations?limit=200${next === "" ? "" : `&next=${encodeURIComponent(next)}`}`;
        const page = await caller.insist("GET", path, {}, giveUpAt);
        found.push(...listOf(page.body, "items").map((one) => textOf(one, "title")));
        next = textOf(page.body, "next") || null;
      }
      return found;
    }
  }

  async function untilSteady(withinMs: number): Promise<void> {
    for (const end = systemClock.now() + withinMs; systemClock.now() < end; await systemClock.sleep(250)) {
      const status = await product.status();
      if (status?.state === "steady") return;
    }
    throw new Error(`not steady within ${withinMs / 1_000} s\n${product.log().slice(-4_000)}`);
  }
}
