// Batches: the same archive transcribed again and again. The first one runs undisturbed; every later one must end with
// the very same texts.

import { systemClock } from "../../../config/system-time.ts";
import { type Caller, listOf, textOf } from "../caller.ts";
import { inLanes, type Load, type LoadContext } from "./load.ts";

export interface BatchRecord {
  readonly tag: string;
  batchId: string;
  acceptedAt: number;
  endedAt: number;
  state: string;
  counts: Readonly<Record<string, number>>;
  /** The greatest step backwards its progress was seen to make. */
  fellBack: number;
  /** What was told of it, in order, for a person to look into. */
  told: string[];
  items: readonly BatchItem[];
}

export interface BatchItem {
  readonly path: string;
  readonly state: string;
  readonly message: string;
  readonly text: string;
}

const FINAL = ["done", "failed", "cancelled"];

export function runBatches(context: LoadContext, archive: string): Load<BatchRecord> {
  const records: BatchRecord[] = [];
  const done = inLanes(context, 1, async (n) => {
    const record = await runBatch(context, archive, `a${n}`);
    if (record !== null) records.push(record);
    await systemClock.sleep(context.random.whole(200, 1_500));
  });
  return { records, done };
}

/** One batch over `archive` to its end; null when it was not accepted. */
export async function runBatch(context: LoadContext, archive: string, tag: string): Promise<BatchRecord | null> {
  const { caller } = context;
  const giveUpAt = Math.min(context.giveUpAt(), systemClock.now() + 60_000);
  const sending = { body: { kind: "transcription", path: archive }, key: tag };
  // Asked for twice at once, and a third time later: it is one batch.
  const ask = () => caller.insist("POST", "/api/batches", sending, giveUpAt);
  const [accepted, twin] = await Promise.all([ask(), ask()]);
  const batchId = textOf(accepted.body, "batchId");
  if (batchId === "") {
    context.timeline.note("a batch was not accepted", { tag, status: accepted.status, error: accepted.error });
    return null;
  }
  for (const again of [twin, await ask()])
    if (textOf(again.body, "batchId") !== batchId && again.status === 202)
      context.timeline.violation("the same Idempotency-Key gave two batches", { tag, batchId, again: again.body });
  const record: BatchRecord = {
    tag,
    batchId,
    acceptedAt: accepted.endedAt,
    endedAt: 0,
    state: "",
    counts: {},
    fellBack: 0,
    told: [],
    items: [],
  };
  let progress = 0;
  while (systemClock.now() < context.giveUpAt()) {
    const batch = await caller.once("GET", `/api/batches/${batchId}`, { timeoutMs: 15_000 });
    if (batch.status === 200) {
      const now = typeof batch.body.progress === "number" ? batch.body.progress : 0;
      record.fellBack = Math.max(record.fellBack, progress - now);
      progress = now;
      const eta = batch.body.etaSeconds;
      if (eta !== null && !(typeof eta === "number" && eta >= 0))
        context.timeline.violation("a batch's time to go is neither unknown nor a duration", { tag, eta });
      const told = `${now.toFixed(4)} ${JSON.stringify(batch.body.counts)}`;
      if (record.told.at(-1) !== told) record.told.push(told);
      record.state = textOf(batch.body, "state");
      if (FINAL.includes(record.state)) {
        record.endedAt = batch.endedAt;
        record.counts = batch.body.counts as Readonly<Record<string, number>>;
        break;
      }
    }
    await systemClock.sleep(400);
  }
  if (record.endedAt > 0) record.items = await itemsOf(caller, batchId, context.giveUpAt());
  return record;
}

async function itemsOf(caller: Caller, batchId: string, giveUpAt: number): Promise<readonly BatchItem[]> {
  const answer = await caller.insist("GET", `/api/batches/${batchId}/items?limit=200`, {}, giveUpAt);
  const items: BatchItem[] = [];
  for (const item of listOf(answer.body, "items")) {
    const one = await caller.insist("GET", `/api/transcriptions/${textOf(item, "transcriptionId")}`, {}, giveUpAt);
    items.push({
      path: textOf(item, "path"),
      state: textOf(item, "state"),
      message: textOf(item, "message"),
      text: textOf(one.body, "text"),
    });
  }
  return items;
}
