// Where an answer goes while it is made: text and tool calls into stored events, in order, in batches.
// Invariants: what was pushed is stored in that order, once, or not at all; nothing is written after the claim is lost.

import type { Logger } from "pino";
import type { Clock } from "../../../config/time.ts";
import { slicesOf } from "../../core/whole-characters.ts";
import { mayPassLater } from "../../db/database-errors.ts";
import type { Database } from "../../db/pool.ts";
import { appendTurnEvents, type NewTurnEvent } from "../../db/turns.ts";

export interface AnswerSink {
  text(delta: string): void;
  tool(event: Readonly<Record<string, unknown>>): void;
  /** Stores what is left; "lostClaim": nothing more may be written. Waits out a database outage, up to `forMs`. */
  flush(forMs: number): Promise<"stored" | "lostClaim">;
}

interface AnswerSinkDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly turn: { readonly id: string; readonly attempt: number };
  readonly onLost: () => void;
}

/** The first word goes out at once; after that, one statement (and one NOTIFY) at most this often. */
const EVERY_MS = 80;
/** An event's text stays well below what one NOTIFY-woken read should carry. */
const LONGEST_DELTA = 16_000;

export function createAnswerSink(deps: AnswerSinkDeps): AnswerSink {
  const { db, clock, log, turn } = deps;
  let pending: NewTurnEvent[] = [];
  let storing: Promise<void> | null = null;
  let lastStoredAt = Number.NEGATIVE_INFINITY;
  let timer: (() => void) | null = null;
  let lost = false;
  let away = false;
  /** Sent, and the connection broke before the answer: stored or not. Sent again as they are, before anything else. */
  let unsure: readonly NewTurnEvent[] | null = null;
  let lastSeq: number | null = null;
  /** How much text was pushed: where in the answer a tool call stands. */
  let length = 0;

  async function store(): Promise<void> {
    const repeat = unsure === null ? null : { after: lastSeq };
    const events = unsure ?? pending;
    if (unsure === null) pending = [];
    try {
      lastStoredAt = clock.monotonicMs();
      const seq = await appendTurnEvents(db, turn, events, repeat);
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
    const waitMs = away ? 500 : Math.max(0, lastStoredAt + EVERY_MS - clock.monotonicMs());
    timer = clock.after(waitMs, () => {
      timer = null;
      storeNow().then(
        () => isWaiting() && schedule(),
        (error: unknown) => log.error({ err: error }, "answer could not be stored"),
      );
    });
  }

  function push(event: NewTurnEvent): void {
    if (lost) return;
    const last = pending.at(-1);
    if (event.kind === "delta" && last?.kind === "delta") {
      const text = `${last.data.text}${event.data.text}`;
      if (text.length <= LONGEST_DELTA) pending[pending.length - 1] = { kind: "delta", data: { text } };
      else pending.push(event);
    } else pending.push(event);
    schedule();
  }

  return {
    text(delta) {
      // PostgreSQL's jsonb holds neither NUL nor half a surrogate pair.
      const clean = delta.replaceAll("\u0000", "").toWellFormed();
      length += clean.length;
      for (const text of slicesOf(clean, LONGEST_DELTA)) push({ kind: "delta", data: { text } });
    },
    tool: (event) => push({ kind: "tool", data: { ...event, at: length } }),
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
