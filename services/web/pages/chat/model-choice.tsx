// Which model answers a conversation's questions. Shown where there is a choice; the last choice is that of new chats.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { session } from "../account.ts";
import { call } from "../api.ts";
import { keep, readKept } from "../kept.ts";
import { failureText } from "../parts/failure.tsx";
import { createStore, type Store, useStore } from "../store.ts";
import { t } from "../text/text.ts";
import { holdConversation, type OpenConversation } from "./conversation.ts";
import { newChat } from "./new-chat.ts";

/** Of an older server, which tells none: there is nothing to choose. */
function namesNow(): readonly string[] {
  const now = session.get();
  return now.state === "signedIn" ? (now.account.models ?? []) : [];
}

const chosenOfNew: Store<string | null> = createStore(readKept<string | null>("model", null));

/** What a new conversation is begun with; null: the usual one. */
export function modelOfNew(): string | null {
  const name = chosenOfNew.get();
  return name !== null && namesNow().includes(name) ? name : null;
}

/** Which model looks at a conversation's images; `why` it does not, and which would. */
export function useVision(conversation: OpenConversation | null): { readonly why: string } | null {
  useStore(session);
  const ofNew = useStore(chosenOfNew);
  const assistant = useStore(newChat).assistant;
  const now = session.get();
  if (now.state !== "signedIn") return null;
  // An older server tells none: it takes no images.
  const { models = [], visionModels = [] } = now.account;
  const wanted =
    conversation === null ? [ofNew, assistant?.model] : [conversation.model, conversation.assistant?.model];
  const model = wanted.find((name) => name) ?? models[0];
  const called = models.find((name) => name === model) ?? models[0];
  if (called !== undefined && visionModels.includes(called)) return null;
  if (called === undefined || visionModels.length === 0) return { why: t("attach.unseen") };
  return { why: t("attach.unseenBy", { model: called, models: visionModels.join(", ") }) };
}

interface ModelChoiceProps {
  readonly conversationId: string | null;
  /** The conversation's; null: the usual one. */
  readonly model: string | null;
  /** That of its assistant; null: it has none of its own. */
  readonly ofAssistant: string | null;
}

export function ModelChoice({ conversationId, model, ofAssistant }: ModelChoiceProps): VNode | null {
  useStore(session);
  const [failed, setFailed] = useState<string | null>(null);
  useStore(chosenOfNew);
  const names = namesNow();
  const usual = names.find((name) => name === ofAssistant) ?? names[0];
  if (usual === undefined || names.length < 2) return null;
  const chosen = (conversationId === null ? modelOfNew() : model) ?? usual;

  function choose(name: string): void {
    const next = name === usual ? null : name;
    keep("model", next);
    chosenOfNew.set(next);
    setFailed(null);
    if (conversationId === null) return;
    const store = holdConversation(conversationId);
    const before = store.get().model;
    const show = (one: string | null) => store.set((now) => ({ ...now, model: one }));
    show(next);
    call(`/api/conversations/${conversationId}`, { method: "PATCH", body: { model: next } }).catch((error: unknown) => {
      show(before);
      setFailed(failureText(error));
    });
  }

  return (
    <label class="model-choice">
      <span>{t("model.choice")}</span>
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {(names.includes(chosen) ? names : [chosen, ...names]).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {failed && <span class="bad">{failed}</span>}
    </label>
  );
}
