// Questions on their way to the server. Invariants: one question, one Idempotency-Key, however often it is sent (also
// after a reload); it leaves the outbox only when the server has accepted or refused it; nothing typed is lost.

import type { Conversation } from "../../../core/wire/conversation.ts";
import type { Attachment, TurnAccepted } from "../../../core/wire/turn.ts";
import { ApiError, call } from "../api.ts";
import { browserClock, browserRandom } from "../browser-time.ts";
import { hasEnded } from "../core/turn-view.ts";
import { keep, onKept, readKept } from "../kept.ts";
import { failureText } from "../parts/failure.tsx";
import { goToBegun } from "../routes.ts";
import { createStore, type Store } from "../store.ts";
import { t } from "../text/text.ts";
import { addTurn, beginConversation, holdConversation, readConversation, setSending } from "./conversation.ts";
import { conversationList } from "./conversation-list.ts";
import { modelOfNew } from "./model-choice.tsx";
import { chooseOfNew, newChat } from "./new-chat.ts";

export interface Outgoing {
  readonly key: string;
  /** null: the question begins a conversation. */
  readonly conversationId: string | null;
  /** It began the conversation: whoever sees it off goes along, also after a reload. */
  readonly begins?: boolean;
  readonly text: string;
  /** waiting: for the running turn's end. unsent: no answer from the server; refused: it said no. */
  readonly state: "sending" | "waiting" | "unsent" | "refused";
  readonly reason: string | null;
  /** The turn it is another version of. */
  readonly versionOf?: string | null;
  /** Absent in what an older page kept. */
  readonly files?: readonly Attachment[];
  /** Ids of files that the server no longer has. */
  readonly gone?: readonly string[];
}

export const outbox: Store<readonly Outgoing[]> = createStore<readonly Outgoing[]>(
  readKept<readonly Outgoing[]>("outbox", []),
);

// Other tabs of this browser send and remove too: what one of them got through is looked up, not waited for.
onKept("outbox", () => {
  const before = outbox.get();
  const now = readKept<readonly Outgoing[]>("outbox", []);
  outbox.set(now);
  const keys = new Set(now.map((item) => item.key));
  for (const { key, conversationId } of before) {
    if (!keys.has(key) && conversationId !== null) void readConversation(conversationId);
  }
});

function put(item: Outgoing): void {
  outbox.set((now) => {
    const next = now.some((old) => old.key === item.key)
      ? now.map((old) => (old.key === item.key ? item : old))
      : [...now, item];
    keep("outbox", next);
    return next;
  });
}

function remove(key: string): void {
  outbox.set((now) => {
    const next = now.filter((item) => item.key !== key);
    keep("outbox", next.length === 0 ? null : next);
    return next;
  });
}

/** Sends a question; one that finds a turn running waits for its end. */
export function ask(
  conversationId: string | null,
  text: string,
  files: readonly Attachment[] = [],
  versionOf: string | null = null,
): Promise<void> {
  const key = browserRandom.uuid();
  const begins = conversationId === null;
  const item: Outgoing = { key, conversationId, begins, text, files, versionOf, state: "sending", reason: null };
  put(item);
  return send(item);
}

export function askAgain(item: Outgoing): Promise<void> {
  return send({ ...item, state: "sending", reason: null });
}

/** Gives the question up; returns what the composer gets back. */
export function withdraw(item: Outgoing): Required<Pick<Outgoing, "text" | "files" | "gone" | "versionOf">> {
  remove(item.key);
  return { text: item.text, files: item.files ?? [], gone: item.gone ?? [], versionOf: item.versionOf ?? null };
}

const busy = new Set<string>();

async function send(item: Outgoing): Promise<void> {
  if (busy.has(item.key)) return;
  busy.add(item.key);
  put(item);
  let current = item;
  try {
    let conversationId = item.conversationId;
    if (conversationId === null) {
      const model = modelOfNew();
      const { assistant, instructions } = newChat.get();
      const { folder } = conversationList.get();
      const made = await call<Conversation>("/api/conversations", {
        method: "POST",
        body: {
          ...(model === null ? {} : { model }),
          ...(assistant === null ? {} : { assistantId: assistant.id }),
          ...(instructions === "" ? {} : { instructions }),
          ...(folder === null ? {} : { folder }),
        },
        key: `${item.key}-conversation`,
      });
      conversationId = made.id;
      current = { ...current, conversationId };
      put(current);
      beginConversation(made, instructions);
      newChat.set((now) => ({ ...now, instructions: "" }));
    }
    // The page of the new conversation, unless the user has gone elsewhere meanwhile.
    if (item.begins && location.pathname === "/") goToBegun(conversationId);
    setSending(conversationId, true);
    const { files = [], versionOf = null } = item;
    const { turnId } = await call<TurnAccepted>(`/api/conversations/${conversationId}/turns`, {
      method: "POST",
      body: {
        text: item.text,
        ...(files.length > 0 ? { attachments: files.map((file) => file.id) } : {}),
        ...(versionOf === null ? {} : { versionOf }),
      },
      key: item.key,
    });
    remove(item.key);
    const question = { text: item.text, attachments: files, versionOf };
    addTurn(conversationId, turnId, question, new Date(browserClock.now()).toISOString());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The next try is without it.
    if (error.code === "assistant.notFound") chooseOfNew(null);
    if (error.code === "turn.running") put({ ...current, state: "waiting", reason: null });
    else if (error.status === 0 || error.status >= 500 || error.status === 401) {
      put({ ...current, state: "unsent", reason: error.code });
    } else if (error.code === "attachment.unusable") {
      const gone = (error.data.missing ?? []) as readonly string[];
      put({ ...current, state: "refused", reason: t("attach.someGone"), gone });
    } else put({ ...current, state: "refused", reason: failureText(error) });
  } finally {
    busy.delete(item.key);
    if (current.conversationId) setSending(current.conversationId, false);
  }
}

const WAITING_LOOK_MS = 1_000;
const UNSENT_LOOK_MS = 5_000;

/** Looks after what waits, should no event tell that its time has come. Ends with the signal. */
export async function watchOutbox(signal: AbortSignal): Promise<void> {
  let lastUnsentAt = browserClock.monotonicMs();
  for await (const _ of browserClock.every(WAITING_LOOK_MS, signal)) {
    const isUnsentDue = browserClock.monotonicMs() - lastUnsentAt >= UNSENT_LOOK_MS;
    if (isUnsentDue) lastUnsentAt = browserClock.monotonicMs();
    sendWaiting(isUnsentDue);
  }
}

/** Sends what waits for a running turn's end and, with `unsent`, what found no server or was cut by a reload. */
export function sendWaiting(unsent = true): void {
  for (const item of outbox.get()) {
    if (item.state === "refused" || busy.has(item.key) || (item.state !== "waiting" && !unsent)) continue;
    if (item.state === "waiting" && item.conversationId !== null) {
      const turns = holdConversation(item.conversationId).get().turns;
      if (turns.some((turn) => !hasEnded(turn.state))) continue;
    }
    void send({ ...item, state: "sending", reason: null });
  }
}
