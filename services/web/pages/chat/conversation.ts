// Conversations as this tab holds them: read once, then kept current by the event stream.
// Invariants: events apply through core/turn-view.ts only; a gap, a new connection or a long silence reads the turn
// again, so that nothing depends on a stream being whole; a turn is shown once.

import type { Conversation, ConversationWithTurns } from "../../../core/wire/conversation.ts";
import type { Attachment, Turn } from "../../../core/wire/turn.ts";
import { ApiError, call } from "../api.ts";
import { browserClock } from "../browser-time.ts";
import {
  applyTurnEvent,
  hasEnded,
  newerView,
  type TurnEvent,
  type TurnState,
  type TurnView,
  viewOfTurn,
} from "../core/turn-view.ts";
import { liveReady, onLive } from "../events/live.ts";
import type { FeedEvent } from "../events/messages.ts";
import { placeNow } from "../routes.ts";
import { createStore, type Store } from "../store.ts";
import { conversationList, loadConversations, noteConversation } from "./conversation-list.ts";

export interface OpenConversation {
  readonly id: string;
  readonly load: "loading" | "ready" | "failed" | "missing";
  readonly title: string;
  /** The model it chose; null: the usual one. */
  readonly model: string | null;
  readonly assistant: Conversation["assistant"];
  /** What the model is told in it alone. */
  readonly instructions: string;
  readonly turns: readonly TurnView[];
  /** The mark of the turns before those; null: these are the first ones. */
  readonly earlier: string | null;
}

/** One with nothing in it. */
const EMPTY: Omit<OpenConversation, "id"> = {
  load: "ready",
  title: "",
  model: null,
  assistant: null,
  instructions: "",
  turns: [],
  earlier: null,
};
export const BEGINNING: OpenConversation = { id: "", ...EMPTY };

/** Turns a page of a conversation: as many as are looked at, not as many as there are. */
const PAGE_TURNS = 20;
/** Turns a page when all of them are wanted. */
export const MOST_PAGE_TURNS = 200;

/** Conversations seen in this tab, by id. */
const held = new Map<string, Store<OpenConversation>>();
/** Events of a turn that wait for its reading. */
const waiting = new Map<string, TurnEvent[]>();
const reading = new Map<string, Promise<void>>();
/** Browser time of a turn's last sign of life. */
const movedAt = new Map<string, number>();
/** Browser time a question of this tab was accepted. */
const addedAt = new Map<string, number>();
/** Turns of held conversations that run in a version which is not shown. */
const elsewhere = new Set<string>();
/** Browser time the reading that a conversation is shown by was asked for. */
const shownFrom = new WeakMap<Store<OpenConversation>, number>();
/** Conversations a question is just being sent in: its echo waits for the POST's answer. */
const sending = new Set<string>();
let whenEnded: (turn: TurnView, title: string) => void = () => undefined;

/** `run` hears of each turn that ended while this tab was open. */
export function onTurnEnded(run: (turn: TurnView, title: string) => void): void {
  whenEnded = run;
}

/** The store of that conversation; reads it when it is new here. */
export function holdConversation(id: string): Store<OpenConversation> {
  const known = held.get(id);
  if (known) return known;
  const store = createStore<OpenConversation>({ ...EMPTY, id, load: "loading" });
  held.set(id, store);
  return store;
}

/** A conversation made here just now: empty, nothing to read. */
export function beginConversation(made: Conversation, instructions: string): void {
  const { id, model, assistant = null } = made;
  holdConversation(id).set({ ...EMPTY, id, model, assistant, instructions });
}

export function forgetConversation(id: string): void {
  held.delete(id);
}

/** Reads the conversation; turns we know more of keep what we know. Answers whether it could be read. */
export async function readConversation(id: string): Promise<boolean> {
  const store = holdConversation(id);
  await liveReady();
  const askedAt = browserClock.monotonicMs();
  try {
    const json = await call<ConversationWithTurns>(`/api/conversations/${id}?limit=${PAGE_TURNS}`);
    // What was asked later has answered already.
    if ((shownFrom.get(store) ?? 0) > askedAt) return true;
    shownFrom.set(store, askedAt);
    const before = store.get();
    const known = new Map(before.turns.map((turn) => [turn.id, turn]));
    // Older pages that were read stay, when this one joins on to what is shown.
    const joint = before.turns.findIndex(({ id }) => id === json.turns[0]?.id);
    const older = before.turns.slice(0, Math.max(0, joint));
    const turns = json.turns.map((turn) => {
      const view = viewOfTurn(turn);
      const old = known.get(turn.id);
      known.delete(turn.id);
      movedAt.set(turn.id, browserClock.monotonicMs());
      return old ? newerView(old, view) : view;
    });
    // A turn accepted while the answer was under way is younger than all of it.
    for (const turn of known.values()) if ((addedAt.get(turn.id) ?? -1) > askedAt) turns.push(turn);
    const earlier = older.length > 0 ? before.earlier : json.earlier;
    store.set({
      id,
      load: "ready",
      title: json.title || before.title,
      model: json.model ?? null,
      // Of an older server: it tells neither.
      assistant: json.assistant ?? null,
      instructions: json.instructions ?? "",
      turns: [...older, ...turns],
      earlier,
    });
    // What was read before the first question knows neither its title nor its state.
    const turnState = turns.at(-1)?.state ?? json.turnState;
    noteConversation(id, { turnState, ...(json.title === "" ? {} : { title: json.title }) });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const missing = error.status === 404 || error.status === 400;
    store.set((now) => (now.load === "ready" && !missing ? now : { ...now, load: missing ? "missing" : "failed" }));
    return false;
  }
}

/** Reads the turns before those shown; answers whether there are still earlier ones. Throws as `call` does. */
export async function readEarlier(id: string, limit = PAGE_TURNS): Promise<boolean> {
  const store = holdConversation(id);
  const { earlier } = store.get();
  if (earlier === null) return false;
  const json = await call<ConversationWithTurns>(
    `/api/conversations/${id}?limit=${limit}&before=${encodeURIComponent(earlier)}`,
  );
  store.set((now) => {
    if (now.earlier !== earlier) return now;
    const known = new Set(now.turns.map((turn) => turn.id));
    const older = json.turns.filter((turn) => !known.has(turn.id)).map(viewOfTurn);
    return { ...now, turns: [...older, ...now.turns], earlier: json.earlier };
  });
  return store.get().earlier !== null;
}

/** While a question is being sent, an unknown turn of that conversation is its echo. */
export function setSending(conversationId: string, is: boolean): void {
  if (is) sending.add(conversationId);
  else sending.delete(conversationId);
}

/** Shows an accepted question; its events catch up at once. */
export function addTurn(
  conversationId: string,
  turnId: string,
  question: { readonly text: string; readonly attachments: readonly Attachment[]; readonly versionOf: string | null },
  createdAt: string,
): void {
  const store = holdConversation(conversationId);
  const { versionOf, ...asked } = question;
  addedAt.set(turnId, browserClock.monotonicMs());
  store.set((now) => {
    if (now.turns.some((turn) => turn.id === turnId)) return now;
    const view = viewOfTurn({
      id: turnId,
      conversationId,
      state: "queued",
      ...asked,
      answer: null,
      message: null,
      position: null,
      createdAt,
      endedAt: null,
    });
    // Another version takes the place of the one before it, and of what follows that.
    const place = now.turns.findIndex((turn) => turn.id === versionOf);
    const before = place < 0 ? now.turns : now.turns.slice(0, place);
    return { ...now, load: "ready", turns: [...before, view] };
  });
  // The first question gives its conversation a title, at the server.
  const isTitled = Boolean(conversationList.get().items.find(({ id }) => id === conversationId)?.title);
  const isListed = noteConversation(conversationId, { turnState: "queued", updatedAt: createdAt });
  if (!isListed || !isTitled) void loadConversations();
  void readTurn(conversationId, turnId);
}

/** Shows the version that turn is of, here and on every other device. Throws as `call` does. */
export async function showVersion(conversationId: string, turnId: string): Promise<void> {
  await call(`/api/conversations/${conversationId}`, { method: "PATCH", body: { shows: turnId } });
  await readConversation(conversationId);
}

/** Asks for the turn's stop; the worker ends it. */
export async function stopTurn(turn: TurnView): Promise<void> {
  replaceTurn({ ...turn, stopRequested: true });
  try {
    await call(`/api/turns/${turn.id}/stop`, { method: "POST", key: `stop-${turn.id}` });
  } catch (error) {
    replaceTurn({ ...turn, stopRequested: false });
    throw error;
  }
  await readTurn(turn.conversationId, turn.id);
}

/** Says what one thinks of an answer; null: nothing any more. Throws as `call` does. */
export async function rateTurn(turn: TurnView, feedback: TurnView["feedback"]): Promise<void> {
  replaceTurn({ ...turn, feedback });
  try {
    const write = feedback === null ? ({ method: "DELETE" } as const) : ({ method: "PUT", body: feedback } as const);
    await call(`/api/turns/${turn.id}/feedback`, write);
  } catch (error) {
    replaceTurn(turn);
    throw error;
  }
}

function replaceTurn(next: TurnView): void {
  const store = held.get(next.conversationId);
  store?.set((now) => {
    const old = now.turns.find((turn) => turn.id === next.id);
    if (!old || old === next) return now;
    return { ...now, turns: now.turns.map((turn) => (turn.id === next.id ? next : turn)) };
  });
}

function findTurn(conversationId: string, turnId: string): TurnView | undefined {
  return held
    .get(conversationId)
    ?.get()
    .turns.find((turn) => turn.id === turnId);
}

/** Reads one turn and applies what arrived meanwhile; one reading at a time. */
export function readTurn(conversationId: string, turnId: string): Promise<void> {
  const running = reading.get(turnId);
  if (running) return running;
  const run = (async () => {
    try {
      const json = await call<Turn>(`/api/turns/${turnId}`);
      const old = findTurn(conversationId, turnId);
      const view = viewOfTurn(json);
      if (old) settle(old, newerView(old, view));
    } catch (error) {
      // Without an answer the watch below tries again; a turn that is gone leaves with its conversation.
      if (!(error instanceof ApiError)) throw error;
    } finally {
      reading.delete(turnId);
    }
  })();
  reading.set(turnId, run);
  return run.then(() => {
    const late = waiting.get(turnId) ?? [];
    waiting.delete(turnId);
    for (const event of late) receiveTurnEvent(conversationId, turnId, event);
  });
}

/** Puts the next view in place and tells of an ending once. */
function settle(old: TurnView, next: TurnView): void {
  movedAt.set(next.id, browserClock.monotonicMs());
  replaceTurn(next);
  if (hasEnded(next.state) && !hasEnded(old.state)) {
    const at = next.endedAt ?? new Date(browserClock.now()).toISOString();
    noteConversation(next.conversationId, { turnState: next.state, updatedAt: at });
    whenEnded(next, held.get(next.conversationId)?.get().title ?? "");
  }
}

function receiveTurnEvent(conversationId: string, turnId: string, event: TurnEvent): void {
  const store = held.get(conversationId);
  if (!store) {
    if (event.kind === "state" || event.kind === "end") noteUnheld(conversationId, turnId, event);
    return;
  }
  const turn = findTurn(conversationId, turnId);
  if (!turn && elsewhere.has(turnId)) {
    if (event.kind === "end") elsewhere.delete(turnId);
    if (event.kind === "state" || event.kind === "end") noteUnheld(conversationId, turnId, event);
    return;
  }
  if (!turn) {
    if (!sending.has(conversationId) && store.get().load === "ready") {
      void readConversation(conversationId).then((isRead) => {
        if (isRead && event.kind !== "end" && !findTurn(conversationId, turnId)) elsewhere.add(turnId);
      });
    }
    return;
  }
  if (reading.has(turnId)) {
    const late = waiting.get(turnId) ?? [];
    late.push(event);
    waiting.set(turnId, late);
    return;
  }
  const applied = applyTurnEvent(turn, event);
  if (applied.kind === "gap") void readTurn(conversationId, turnId);
  if (applied.kind !== "applied") return;
  if (event.kind === "state") noteConversation(conversationId, { turnState: applied.turn.state });
  settle(turn, applied.turn);
}

/** Something moved in a conversation this tab never opened: the list shows it. */
function noteUnheld(conversationId: string, turnId: string, event: TurnEvent): void {
  const { state } = event.data as { readonly state?: TurnState };
  const at = new Date(browserClock.now()).toISOString();
  const known = noteConversation(conversationId, {
    turnState: state ?? null,
    ...(event.kind === "end" ? { updatedAt: at } : {}),
  });
  if (!known) void loadConversations();
  if (event.kind !== "end") return;
  const view = viewOfTurn({
    id: turnId,
    conversationId,
    state: state === "answered" || state === "stopped" ? state : "failed",
    text: "",
    answer: null,
    message: null,
    position: null,
    createdAt: at,
    endedAt: at,
  });
  whenEnded(view, conversationList.get().items.find((item) => item.id === conversationId)?.title ?? "");
}

function receive(event: FeedEvent): void {
  if (event.kind === "turn") receiveTurnEvent(event.conversationId, event.turnId, event.event);
  if (event.kind === "changed" && event.what === "conversation") {
    // Renamed or deleted, perhaps on another device: one that is gone is shown as gone.
    void loadConversations();
    if (held.get(event.id)?.get().load === "ready") void readConversation(event.id);
  }
  if (event.kind !== "hello") return;
  // A new connection: whatever we hold as running is compared with what runs.
  const running = new Map(event.turns.map((turn) => [turn.turnId, turn]));
  for (const [conversationId, store] of held) {
    for (const turn of store.get().turns) {
      const live = running.get(turn.id);
      running.delete(turn.id);
      if (!hasEnded(turn.state) && live?.seq !== turn.seq) void readTurn(conversationId, turn.id);
    }
  }
  const unknown = [...running.values()];
  for (const turn of unknown) {
    if (held.get(turn.conversationId)?.get().load === "ready" && !sending.has(turn.conversationId)) {
      void readConversation(turn.conversationId);
    }
  }
  // What began and ended while no stream was open is in neither list: what is in sight is read again.
  const place = placeNow();
  if (place.page === "chat" && place.id !== null && held.get(place.id)?.get().load === "ready") {
    void readConversation(place.id);
  }
  void loadConversations();
}

const QUEUED_LOOK_MS = 3_000;
const RUNNING_LOOK_MS = 20_000;

/** Looks after running turns: positions in line, and a stream that says nothing. Ends with the signal. */
export async function watchTurns(signal: AbortSignal): Promise<void> {
  const leave = onLive(receive);
  signal.addEventListener("abort", leave, { once: true });
  for await (const _ of browserClock.every(1_000, signal)) {
    if (document.hidden) continue;
    const now = browserClock.monotonicMs();
    for (const [conversationId, store] of held) {
      for (const turn of store.get().turns) {
        if (hasEnded(turn.state)) continue;
        const look = turn.state === "queued" ? QUEUED_LOOK_MS : RUNNING_LOOK_MS;
        if (now - (movedAt.get(turn.id) ?? 0) < look) continue;
        movedAt.set(turn.id, now);
        void readTurn(conversationId, turn.id);
      }
    }
  }
}
