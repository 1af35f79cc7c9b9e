// Which assistant answers, told beside the composer; the dialog where it is chosen is loaded when it is first opened.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AssistantDialog } from "../assistants/assistant-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { useStore } from "../store.ts";
import { t } from "../text/text.ts";
import type { OpenConversation } from "./conversation.ts";
import { newChat } from "./new-chat.ts";

/** `conversation` null: a new one. */
export function AssistantChoice({ conversation }: { readonly conversation: OpenConversation | null }): VNode {
  const [Dialog, setDialog] = useState<typeof AssistantDialog | null>(null);
  const ofNew = useStore(newChat);
  const { assistant, instructions } = conversation ?? ofNew;
  return (
    <>
      <button
        type="button"
        class="link assistant-choice"
        aria-haspopup="dialog"
        onClick={() => {
          import("../assistants/assistant-dialog.tsx").then(
            (module) => setDialog(() => module.AssistantDialog),
            () => location.reload(),
          );
        }}
      >
        <Icon name="assistants" />
        {assistant?.name ?? t("assistant.none")}
        {instructions !== "" && " ✎"}
      </button>
      {Dialog && <Dialog conversation={conversation} onClose={() => setDialog(null)} />}
    </>
  );
}
