// Turns: asked with an Idempotency-Key until accepted, then watched to their end by polling, some by the event stream
// too. A turn that was accepted is kept with everything the client saw of it.

import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../caller.ts";
import { followTurn } from "./follow-turn.ts";
import { inLanes, type Load, type LoadContext } from "./load.ts";

export interface TurnRecord {
  readonly tag: string;
  readonly text: string;
  /** The whole answer, for questions whose answer is known. */
  readonly wanted: string;
  /** How long it takes when nothing happens. */
  readonly lengthMs: number;
  conversationId: string;
  turnId: string;
  askedAt: number;
  acceptedAt: number;
  /** When the client first saw it ended; 0: it never did. */
  endedAt: number;
  state: string;
  answer: string;
  message: string;
  /** The text of the stream's deltas; null: not followed, or not to the end. */
  streamed: string | null;
}

const OVER = ["answered", "stopped", "failed"];

/** Asks questions in `lanes` conversations at a time. */
export function askTurns(context: LoadContext, port: number, lanes: number): Load<TurnRecord> {
  const records: TurnRecord[] = [];
  const done = inLanes(context, lanes, async (n) => {
    const record = newQuestion(context, `t${n}`);
    const { caller } = context;
    const tag = record.tag;
    const conversation = await caller.insist(
      "POST",
      "/api/conversations",
      { body: { title: tag }, key: `c-${tag}` },
      giveUp(context),
    );
    record.conversationId = textOf(conversation.body, "id");
    if (record.conversationId === "") return systemClock.sleep(500);
    record.askedAt = systemClock.now();
    const path = `/api/conversations/${record.conversationId}/turns`;
    const ask = () => caller.insist("POST", path, { body: { text: record.text }, key: tag }, giveUp(context));
    // Every third one is asked twice at once, as an impatient page would.
    const [accepted, twin] = await Promise.all([ask(), n % 3 === 0 ? ask() : null]);
    record.turnId = textOf(accepted.body, "turnId");
    if (record.turnId === "") {
      context.timeline.note("a turn was not accepted", { tag, status: accepted.status, error: accepted.error });
      return systemClock.sleep(500);
    }
    record.acceptedAt = accepted.endedAt;
    if (twin?.status === 202 && textOf(twin.body, "turnId") !== record.turnId)
      context.timeline.violation("the same Idempotency-Key gave two turns", { turn: record, twin: twin.body });
    records.push(record);
    const over = new AbortController();
    // A line that breaks again and again: the stream is taken up where it was left.
    const cutAfterMs = n % 4 === 0 ? context.random.whole(100, 1_500) : null;
    const streaming =
      n % 2 === 0
        ? followTurn({ port, cookie: caller.cookie(), turnId: record.turnId, over: over.signal, cutAfterMs })
        : null;
    await watch(context, record);
    if (streaming !== null) {
      // The stream's own end may come a moment after the poll's.
      const cancel = systemClock.after(15_000, () => over.abort());
      record.streamed = await streaming;
      cancel();
    }
    await systemClock.sleep(context.random.whole(50, 600));
  });
  return { records, done };
}

const giveUp = (context: LoadContext) => Math.min(context.giveUpAt(), systemClock.now() + 60_000);

function newQuestion(context: LoadContext, tag: string): TurnRecord {
  const { random } = context;
  const kind = random.float();
  const empty = {
    conversationId: "",
    turnId: "",
    askedAt: 0,
    acceptedAt: 0,
    endedAt: 0,
    state: "",
    answer: "",
    message: "",
    streamed: null,
  };
  if (kind < 0.15) {
    const text = `sql: SELECT 6 * 7 AS answer /* ${tag} */`;
    return { tag, text, wanted: "42", lengthMs: 500, ...empty };
  }
  const words = kind < 0.85 ? random.whole(2, 25) : random.whole(60, 90);
  const everyMs = random.whole(20, 130);
  const wanted = Array.from({ length: words }, (_, i) => `w${i + 1}`).join(" ");
  return { tag, text: `say ${words} words every ${everyMs} ms (${tag})`, wanted, lengthMs: words * everyMs, ...empty };
}

async function watch(context: LoadContext, record: TurnRecord): Promise<void> {
  while (systemClock.now() < context.giveUpAt()) {
    const turn = await context.caller.once("GET", `/api/turns/${record.turnId}`, { timeoutMs: 15_000 });
    const state = textOf(turn.body, "state");
    if (OVER.includes(state)) {
      Object.assign(record, {
        state,
        endedAt: turn.endedAt,
        answer: textOf(turn.body, "answer"),
        message: textOf(turn.body, "message"),
      });
      return;
    }
    await systemClock.sleep(400);
  }
}
