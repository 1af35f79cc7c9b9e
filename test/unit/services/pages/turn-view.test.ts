import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  applyTurnEvent,
  hasEnded,
  newerView,
  type TurnEvent,
  type TurnFacts,
  type TurnView,
  viewOfTurn,
} from "../../../../services/web/pages/core/turn-view.ts";

const TURN: TurnFacts = {
  id: "t1",
  conversationId: "c1",
  state: "queued",
  text: "question",
  answer: null,
  message: null,
  position: 2,
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
};

const WORDS = Array.from({ length: 120 }, (_, index) => `낱말-${index} `);
const EVENTS: readonly TurnEvent[] = [
  { seq: 1, kind: "state", data: { state: "queued" } },
  { seq: 2, kind: "state", data: { state: "running" } },
  { seq: 3, kind: "tool", data: { id: "a", name: "run_sql", input: { sql: "SELECT 1" }, state: "running" } },
  {
    seq: 4,
    kind: "tool",
    data: { id: "a", name: "run_sql", input: { sql: "SELECT 1" }, state: "done", rows: 1, elapsedMs: 5 },
  },
  ...WORDS.map((text, index): TurnEvent => ({ seq: 5 + index, kind: "delta", data: { text } })),
  { seq: 5 + WORDS.length, kind: "end", data: { state: "answered", message: null } },
];

/** What the server would tell of the turn after its first `count` events. */
function stored(count: number): TurnFacts {
  const events = EVENTS.slice(0, count);
  const text = events.filter(({ kind }) => kind === "delta").map(({ data }) => data.text);
  const end = events.find(({ kind }) => kind === "end");
  return {
    ...TURN,
    state: end ? "answered" : count >= 2 ? "running" : "queued",
    answer: text.length === 0 ? null : text.join(""),
    position: null,
    endedAt: end ? "2026-01-01T00:01:00.000Z" : null,
    lastEventId: String(events.at(-1)?.seq ?? 0),
    tools: events.filter(({ kind }) => kind === "tool").map(({ data }) => data),
  };
}

function apply(turn: TurnView, event: TurnEvent): TurnView {
  const applied = applyTurnEvent(turn, event);
  return applied.kind === "applied" ? applied.turn : turn;
}

const hashOf = (turn: TurnView) => createHash("sha256").update(turn.answer).digest("hex");

test("twenty reconnects and reloads, each with a replay, give the same text", () => {
  const whole = EVENTS.reduce(apply, viewOfTurn(TURN));
  let turn = viewOfTurn(TURN);
  const every = Math.floor(EVENTS.length / 20);
  for (const [index, event] of EVENTS.entries()) {
    turn = apply(turn, event);
    if (index % every !== 0) continue;
    // A reload's picture, then a stream that repeats the last thirty events.
    if ((index / every) % 2 === 0) turn = newerView(turn, viewOfTurn(stored(index + 1)));
    for (const again of EVENTS.slice(Math.max(0, index - 30), index + 1)) turn = apply(turn, again);
  }
  expect(hashOf(turn)).toBe(hashOf(whole));
  expect(turn.answer).toBe(WORDS.join(""));
  expect(turn.state).toBe("answered");
  expect(turn.tools).toHaveLength(1);
});

test("an event after a gap is not applied: the turn must be read again", () => {
  const turn = EVENTS.slice(0, 6).reduce(apply, viewOfTurn(TURN));
  expect(applyTurnEvent(turn, EVENTS[8] as TurnEvent).kind).toBe("gap");
  expect(applyTurnEvent(turn, EVENTS[5] as TurnEvent).kind).toBe("known");
});

test("a picture that is older than what is shown takes nothing away", () => {
  const turn = EVENTS.slice(0, 50).reduce(apply, viewOfTurn(TURN));
  expect(newerView(turn, viewOfTurn(stored(20)))).toBe(turn);
  expect(newerView(turn, viewOfTurn(stored(80))).seq).toBe(80);
  expect(newerView(viewOfTurn(stored(EVENTS.length)), turn).state).toBe("answered");
});

test("only an end ends a turn, and nothing follows it", () => {
  const almost = EVENTS.slice(0, -1).reduce(apply, viewOfTurn(TURN));
  expect(hasEnded(almost.state)).toBe(false);
  const ended = apply(almost, EVENTS.at(-1) as TurnEvent);
  expect(ended.state).toBe("answered");
  expect(applyTurnEvent(ended, { seq: ended.seq + 1, kind: "delta", data: { text: "late" } }).kind).toBe("known");
});

test("no tool stays busy in a stopped turn", () => {
  const running = EVENTS.slice(0, 3).reduce(apply, viewOfTurn(TURN));
  expect(running.tools[0]).toMatchObject({ state: "running", input: "SELECT 1" });
  const stopped = apply(running, { seq: 4, kind: "end", data: { state: "stopped", message: null } });
  expect(stopped.tools[0]?.state).toBe("stopped");
  expect(viewOfTurn({ ...stored(3), state: "stopped" }).tools[0]?.state).toBe("stopped");
});

test("a tool's end keeps its statement and tells rows and time", () => {
  const turn = EVENTS.slice(0, 4).reduce(apply, viewOfTurn(TURN));
  expect(turn.tools[0]).toMatchObject({ name: "run_sql", state: "done", rows: 1, ms: 5, input: "SELECT 1" });
});
