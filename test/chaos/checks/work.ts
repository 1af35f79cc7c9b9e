// What must be true of the work at the end of a run: turns, playbook runs, batches and plain requests, each compared
// with what the servers outside counted.

import { textOf } from "../../../services/text/text.ts";
import type { Disturbances } from "../disturbances.ts";
import type { BatchRecord } from "../load/batches.ts";
import type { PlainRecord } from "../load/plain.ts";
import type { PlaybookRecord } from "../load/playbooks.ts";
import type { TurnRecord } from "../load/turns.ts";
import type { MailServer } from "../outside/mail-server.ts";
import type { ModelEndpoint } from "../outside/model-endpoint.ts";
import type { ToolServer } from "../outside/tool-server.ts";
import type { Timeline } from "../timeline.ts";

export interface WorkCheck {
  readonly timeline: Timeline;
  readonly disturbances: Disturbances;
}

export interface TurnBudget {
  readonly finishMs: number;
  readonly claimMs: number;
  readonly limitMs: number;
  /** Longest wait for a handler while nothing is in the way; null: not judged. */
  readonly waitMs: number | null;
}

const CUT = textOf("en")("turn.cut");
const LATE = textOf("en")("turn.unclaimed");

export function checkTurns(
  { timeline, disturbances }: WorkCheck,
  turns: readonly TurnRecord[],
  model: ModelEndpoint,
  budget: TurnBudget,
): void {
  for (const turn of turns) {
    const say = (sentence: string, more: object = {}) => timeline.violation(sentence, { turn, ...more });
    if (turn.endedAt === 0) {
      say("an accepted turn never ended");
      continue;
    }
    const record = model.seen.get(turn.text);
    // Asked again by whoever went on after a lost worker, or was handed it past the finish time.
    const mayGoOn =
      turn.lengthMs > budget.finishMs - 3_000 ||
      disturbances.touching(["worker", "database"], turn.askedAt - 1_000, turn.endedAt).length > 0;
    if ((record?.firstAt.length ?? 0) > 1 && !mayGoOn) say("a turn was run twice", { model: record });
    if (turn.state === "stopped") say("a turn was stopped, and nobody asked for it");
    if (turn.state === "answered") {
      // The tool tells the model that the database is away, and the answer tells it on: that is an answer too. What the
      // server itself says begins with a small letter.
      const away =
        turn.wanted === "42" &&
        /^result: (\{"error"|[Ee]rror: )/.test(turn.answer) &&
        disturbances.touching(["database", "inFlight"], turn.askedAt, turn.endedAt).length > 0;
      const whole = away || (turn.wanted === "42" ? turn.answer.includes("42") : turn.answer.trim() === turn.wanted);
      if (!whole) say("an answered turn has not the whole answer", { wanted: turn.wanted });
      if ((record?.done ?? 0) === 0)
        say("a turn is answered, but the model never finished answering it", { model: record });
    }
    if (turn.state === "failed") {
      if (turn.message === "") say("a failed turn has no message");
      const kept = turn.answer.trim();
      if (turn.wanted !== "42" && kept !== "" && !`${turn.wanted} `.startsWith(`${kept} `))
        say("what a failed turn kept of its answer is no beginning of it", { wanted: turn.wanted });
      checkReason({ timeline, disturbances }, turn, budget);
    }
    if (turn.streamed !== null && turn.streamed !== turn.answer) say("the stream's deltas are not the answer");
    checkWait({ timeline, disturbances }, turn, record?.firstAt[0], budget.waitMs);
    const outages = disturbances.touching(
      ["database", "worker", "requests", "supervisor", "replicas"],
      turn.acceptedAt,
      turn.endedAt,
    );
    const excused = outages.reduce(
      (sum, one) => sum + Math.min(one.until ?? turn.endedAt, turn.endedAt) - Math.max(one.from, turn.acceptedAt),
      0,
    );
    const tookMs = turn.endedAt - turn.acceptedAt;
    if (tookMs > budget.claimMs + budget.limitMs + 15_000 + excused)
      say("a turn took longer than claim limit and turn limit", { tookMs });
  }
}

/** The machinery of waking works after every fault: work that nothing is in the way of starts at once. */
function checkWait(
  { timeline, disturbances }: WorkCheck,
  turn: TurnRecord,
  startedAt: number | undefined,
  waitMs: number | null,
): void {
  if (waitMs === null || startedAt === undefined || startedAt - turn.acceptedAt < waitMs) return;
  const inTheWay = disturbances.touching(
    ["worker", "workerFleet", "database", "supervisor", "replicas", "inFlight", "requests"],
    turn.askedAt - 2_000,
    startedAt,
  );
  if (inTheWay.length === 0)
    timeline.violation("a turn waited for its handler although nothing was in the way", {
      turn,
      waitedMs: startedAt - turn.acceptedAt,
    });
}

/** A turn fails only when something happened to its worker or its database, or it did not fit the budget of a restart. */
function checkReason({ timeline, disturbances }: WorkCheck, turn: TurnRecord, budget: TurnBudget): void {
  const touched = disturbances.touching(["worker", "database"], turn.askedAt - 1_000, turn.endedAt);
  if (touched.length > 0) return;
  if (turn.message === CUT && turn.lengthMs > budget.finishMs - 3_000) return;
  if (turn.message === LATE) {
    if (disturbances.touching(["turnedBack"], turn.acceptedAt, turn.endedAt).length > 0) return;
    timeline.violation("a turn was not claimed in time, and no worker was hurt", { turn });
    return;
  }
  timeline.violation("a turn failed although nothing happened to its worker or its database", { turn });
}

export function checkPlaybooks(
  { timeline, disturbances }: WorkCheck,
  runs: readonly PlaybookRecord[],
  tools: ToolServer,
  mail: MailServer,
): void {
  for (const run of runs) {
    const say = (sentence: string, more: object = {}) => timeline.violation(sentence, { run, ...more });
    const called = (step: string) => {
      if (step === "look") return null;
      const tag = `${run.tag}.${step}`;
      return step === "mail" ? (mail.mails.get(tag) ?? 0) : (tools.calls.get(tag)?.length ?? 0);
    };
    for (const step of run.stepIds) {
      const count = called(step);
      const again = run.words.get(step)?.filter((word) => word === "again").length ?? 0;
      if (count !== null && step !== "call" && count > 1 + again)
        say("a playbook step's tool was called twice unasked", { step, count, again });
    }
    if (run.endedAt === 0) {
      say("an accepted playbook run never ended");
      continue;
    }
    for (const step of run.steps) {
      const count = called(step.id);
      if (count === null) continue;
      const word = run.words.get(step.id)?.at(-1);
      const least = word === "happened" ? 0 : 1;
      if (step.state === "finished" && count < least) say("a finished step's tool was not called", { step, count });
      if (!["finished", "unknown", "failed"].includes(step.state) && count !== 0)
        say("a step's tool was called and its run does not know", { step, count });
      if (step.state === "started" || step.state === "running")
        say("an ended run has a step that still runs", { step });
    }
    if (run.state === "done" && run.steps.some((step) => step.state !== "finished"))
      say("a run is done and not all of its steps are");
    if (run.state !== "done") {
      if (run.state === "failed" && run.message === "") say("a failed run has no message");
      if (disturbances.touching(["worker", "database"], run.acceptedAt - 2_000, run.endedAt).length === 0)
        say("a playbook run failed although nothing happened to its worker or its database");
    }
  }
}

/** Losses after which a recording is taken for the cause (services/core/job-kinds.ts). */
const LOSSES = 3;

export function checkBatches(
  { timeline, disturbances }: WorkCheck,
  batches: readonly BatchRecord[],
  undisturbed: BatchRecord,
): void {
  const wanted = new Map(undisturbed.items.map((item) => [item.path, item.text]));
  for (const batch of batches) {
    const say = (sentence: string, more: object = {}) =>
      timeline.violation(sentence, { batch: { ...batch, items: batch.items.length }, ...more });
    if (batch.endedAt === 0) {
      say("an accepted batch never ended");
      continue;
    }
    const { done = 0, failed = 0, queued = 0, running = 0, cancelled = 0 } = batch.counts;
    const sum = done + failed + queued + running + cancelled;
    if (sum !== wanted.size || batch.items.length !== wanted.size)
      say("a batch lost or doubled an item", { sum, wanted: wanted.size });
    if (new Set(batch.items.map((item) => item.path)).size !== batch.items.length) say("a batch has an item twice");
    if (batch.items.filter((item) => item.state === "done").length !== done)
      say("a batch's counts are not those of its items");
    if (batch.fellBack > 1e-9) say("a batch's progress went backwards");
    const losses = disturbances.touching(["worker", "database"], batch.acceptedAt, batch.endedAt).length;
    for (const item of batch.items) {
      if (item.state === "done" && item.text !== wanted.get(item.path))
        say("a transcription is not that of an undisturbed run", { item, wanted: wanted.get(item.path) });
      if (item.state !== "done" && losses < LOSSES) say("a recording failed without having been lost often", { item });
    }
  }
}

/** `titles`: those of all conversations that exist at the end. */
export function checkPlain(
  { timeline, disturbances }: WorkCheck,
  records: readonly PlainRecord[],
  titles: readonly string[],
): void {
  const existing = new Map<string, number>();
  for (const title of titles) existing.set(title, (existing.get(title) ?? 0) + 1);
  for (const { title, answer } of records) {
    const failed = answer.status === null || answer.status >= 400;
    if (failed && !disturbances.excusesRequest(answer.sentAt, answer.endedAt)) {
      const around = disturbances.all.filter(
        (one) => one.from < answer.endedAt && (one.until ?? Number.POSITIVE_INFINITY) > answer.sentAt - 5_000,
      );
      timeline.violation("a plain request failed although nothing happened to what served it", {
        title,
        answer,
        around,
      });
    }
    if (answer.status === 503 && answer.retryAfter === null)
      timeline.violation("a 503 does not say when to come back", { title, answer });
    if (title === null) continue;
    const count = existing.get(title) ?? 0;
    if (count > 1) timeline.violation("a write was executed twice", { title, count, answer });
    if (!failed && count === 0) timeline.violation("an acknowledged write is not there", { title, answer });
  }
}
