// Where an answer goes while it is made: text and tool calls into stored events, in order, in batches.
// Invariants: what was pushed is stored in that order, once, or not at all; nothing is written after the claim is lost.
// Text that an earlier attempt told already is passed over as it is said again; where what is said differs, the rest of it
// is taken back first.

import type { Logger } from "pino";
import type { Clock } from "../../../config/time.ts";
import { slicesOf } from "../../core/whole-characters.ts";
import { mayPassLater } from "../../db/database-errors.ts";
import type { Database } from "../../db/pool.ts";
import { rewindTurn } from "../../db/rewind.ts";
import { appendTurnEvents, type NewTurnEvent } from "../../db/turns.ts";

export interface AnswerSink {
  text(delta: string): void;
  tool(event: Readonly<Record<string, unknown>>): void;
  /** How much text was said so far, in UTF-16 units. */
  readonly length: number;
  /** The answer is whole: what an earlier attempt told beyond it is taken back. */
  close(): void;
  /** Stores what is left; "lostClaim": nothing more may be written. Waits out a database outage, up to `forMs`. */
  flush(forMs: number): Promise<"stored" | "lostClaim">;
}

interface AnswerSinkDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly turn: { readonly id: string; readonly attempt: number };
  readonly onLost: () => void;
  /** What earlier attempts told and still stands, and the number of its last event. */
  readonly told?: { readonly text: string; readonly seq: number };
}

/** What waits to be stored; a rewind is a statement of its own. */
type Pending = NewTurnEvent | { readonly kind: "rewind"; readonly length: number };

/** The first word goes out at once; after that, one statement (and one NOTIFY) at most this often. */
const EVERY_MS = 80;
/** Where storing takes long the machine has much to do: all answers together then take at most so much of their time. */
const REST_PER_STORING = 4;
const LONGEST_REST_MS = 500;
/** An event's text stays well below what one NOTIFY-woken read should carry. */
const LONGEST_DELTA = 16_000;

export function createAnswerSink(deps: AnswerSinkDeps): AnswerSink {
  const { db, clock, log, turn } = deps;
  const pending: Pending[] = [];
  let storing: Promise<void> | null = null;
  let nextStoreAt = Number.NEGATIVE_INFINITY;
  let timer: (() => void) | null = null;
  let lost = false;
  let away = false;
  /** Sent, and the connection broke before the answer: stored or not. Sent again as they are, before anything else. */
  let unsure: readonly Pending[] | null = null;
  const told = deps.told?.text ?? "";
  let lastSeq: number | null = deps.told?.seq ?? null;
  /** How much text was said: where in the answer a tool call stands. */
  let length = 0;
  /** What is said is, so far, what was told before. */
  let follows = told !== "";

  /** The next events of one statement. */
  function takeNext(): readonly Pending[] {
    const at = pending.findIndex(({ kind }) => kind === "rewind");
    return pending.splice(0, at === -1 ? pending.length : Math.max(1, at));
  }

  function send(events: readonly Pending[], isRepeat: boolean): Promise<number | null> {
    const [first] = events;
    if (first?.kind === "rewind") return rewindTurn(db, turn, first.length);
    return appendTurnEvents(db, turn, events as readonly NewTurnEvent[], isRepeat ? { after: lastSeq } : null);
  }

  async function store(): Promise<void> {
    const isRepeat = unsure !== null;
    const events = unsure ?? takeNext();
    const from = clock.monotonicMs();
    try {
      const seq = await send(events, isRepeat);
      away = false;
      unsure = null;
      if (seq !== null) {
        lastSeq = seq;
        db.notify("owl_turn", turn.id);
      } else if (!lost) {
        lost = true;
        deps.onLost();
      }
    } catch (error) {
      unsure = events;
      if (!mayPassLater(error)) throw error;
      if (!away) log.warn({ err: error }, "answer is kept in memory until the database is back");
      away = true;
    }
    const restMs = Math.min(REST_PER_STORING * (clock.monotonicMs() - from), LONGEST_REST_MS);
    nextStoreAt = Math.max(from + EVERY_MS, clock.monotonicMs() + restMs);
  }

  const isWaiting = () => unsure !== null || pending.length > 0;

  function storeNow(): Promise<void> {
    timer?.();
    timer = null;
    storing ??= store().finally(() => {
      storing = null;
    });
    return storing;
  }

  function schedule(): void {
    if (lost || timer || storing) return;
    const waitMs = away ? 500 : Math.max(0, nextStoreAt - clock.monotonicMs());
    timer = clock.after(waitMs, () => {
      timer = null;
      storeNow().then(
        () => isWaiting() && schedule(),
        (error: unknown) => log.error({ err: error }, "answer could not be stored"),
      );
    });
  }

  function push(event: Pending): void {
    if (lost) return;
    const last = pending.at(-1);
    if (event.kind === "delta" && last?.kind === "delta") {
      const text = `${last.data.text}${event.data.text}`;
      if (text.length <= LONGEST_DELTA) pending[pending.length - 1] = { kind: "delta", data: { text } };
      else pending.push(event);
    } else pending.push(event);
    schedule();
  }

  /** What of `text` was not told before. */
  function fresh(text: string): string {
    if (!follows) return text;
    const isSame = told.startsWith(text, length);
    let same = isSame ? text.length : 0;
    while (!isSame && same < text.length && text[same] === told[length + same]) same += 1;
    // Never between the halves of one character.
    if (!isSame && /[\uD800-\uDBFF]/.test(text[same - 1] ?? "")) same -= 1;
    if (isSame) return "";
    follows = false;
    if (length + same < told.length) push({ kind: "rewind", length: length + same });
    return text.slice(same);
  }

  return {
    get length() {
      return length;
    },
    text(delta) {
      // PostgreSQL's jsonb holds neither NUL nor half a surrogate pair.
      const said = delta.replaceAll("\u0000", "").toWellFormed();
      const clean = fresh(said);
      length += said.length;
      for (const text of slicesOf(clean, LONGEST_DELTA)) push({ kind: "delta", data: { text } });
    },
    tool: (event) => push({ kind: "tool", data: { ...event, at: length } }),
    close() {
      if (follows && length < told.length) push({ kind: "rewind", length });
      follows = false;
    },
    async flush(forMs) {
      const untilMs = clock.monotonicMs() + forMs;
      while (!lost && (isWaiting() || storing)) {
        await storeNow();
        if (away && clock.monotonicMs() >= untilMs) throw new Error("the database is away; the answer is not stored");
        if (away) await clock.sleep(200);
      }
      timer?.();
      return lost ? "lostClaim" : "stored";
    },
  };
}
