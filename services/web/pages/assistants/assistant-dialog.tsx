// Who answers in a chat: the choice of an assistant, and what the model is told in this chat alone.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Assistants } from "../../../core/wire/assistant.ts";
import { call } from "../api.ts";
import { holdConversation, type OpenConversation } from "../chat/conversation.ts";
import { type Chosen, chooseOfNew, newChat } from "../chat/new-chat.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { a } from "../text/assistant-words.ts";
import { t } from "../text/text.ts";

interface AssistantDialogProps {
  /** null: a new one. */
  readonly conversation: OpenConversation | null;
  readonly onClose: () => void;
}

export function AssistantDialog({ conversation, onClose }: AssistantDialogProps): VNode {
  const before = conversation ?? newChat.get();
  const { value, failed } = useResource<Assistants>("/api/assistants", { pollMs: 60_000 });
  const [chosen, setChosen] = useState<Chosen | null>(before.assistant);
  const [instructions, setInstructions] = useState(before.instructions);
  const [refused, setRefused] = useState<string | null>(null);

  async function save(): Promise<void> {
    chooseOfNew(chosen);
    if (conversation === null) {
      newChat.set((now) => ({ ...now, instructions }));
      return;
    }
    const body = { assistantId: chosen?.id ?? null, instructions };
    await call(`/api/conversations/${conversation.id}`, { method: "PATCH", body });
    holdConversation(conversation.id).set((now) => ({ ...now, assistant: chosen, instructions }));
  }

  return (
    <Dialog title={a("dialog")} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setRefused(null);
          save().then(onClose, (error: unknown) => setRefused(failureText(error)));
        }}
      >
        {!value && <Awaited failed={failed} />}
        {value && (
          <fieldset class="assistant-list">
            <legend>{t("nav.assistants")}</legend>
            <label>
              <input type="radio" name="assistant" checked={chosen === null} onChange={() => setChosen(null)} />
              {a("nobody")}
            </label>
            {value.items.map((item) => (
              <label key={item.id}>
                <input
                  type="radio"
                  name="assistant"
                  checked={chosen?.id === item.id}
                  onChange={() => {
                    const { id, name, model, starters } = item;
                    setChosen({ id, name, model, ...(starters.length > 0 ? { starters } : {}) });
                  }}
                />
                {item.name}
                {!item.own && <span class="soft">{a("by", { name: item.by })}</span>}
              </label>
            ))}
          </fieldset>
        )}
        <label>
          {a("chat")}
          <textarea
            rows={3}
            maxLength={8_000}
            value={instructions}
            onInput={(event) => setInstructions(event.currentTarget.value)}
          />
        </label>
        <p>
          <a
            href="/assistants"
            onClick={(event) => {
              onClose();
              follow(event);
            }}
          >
            {a("manage")}
          </a>
        </p>
        {conversation !== null && <p class="soft">{a("from")}</p>}
        {refused && <Failure text={refused} />}
        <footer>
          <button type="button" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="primary" disabled={!value}>
            {a("choose")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
