// A conversation's head: its title, and what can be done with it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { conversationMarkdown } from "../core/conversation-markdown.ts";
import { Failure, failureText } from "../parts/failure.tsx";
import { Menu } from "../parts/menu.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useStore } from "../store.ts";
import { t } from "../text/text.ts";
import { holdConversation, MOST_PAGE_TURNS, type OpenConversation, readEarlier } from "./conversation.ts";
import { useConversationActs } from "./conversation-acts.tsx";
import { conversationList } from "./conversation-list.ts";

export function ConversationHead({ conversation }: { readonly conversation: OpenConversation }): VNode {
  const [failed, setFailed] = useState<string | null>(null);
  const listed = useStore(conversationList).items.find((item) => item.id === conversation.id);
  const title = listed?.title || conversation.title || conversation.turns[0]?.text.slice(0, 80) || t("chat.new");

  const { buttons, outcome } = useConversationActs(conversation.id, title);

  async function exportAll(): Promise<void> {
    while (await readEarlier(conversation.id, MOST_PAGE_TURNS));
    const { turns } = holdConversation(conversation.id).get();
    const words = {
      question: t("export.question"),
      answer: t("export.answer"),
      tool: t("export.tool"),
      attached: t("attach.list"),
      states: {
        stopped: t("turn.stopped"),
        failed: t("turn.failed"),
        running: t("turn.running"),
        queued: t("turn.queued"),
      },
    };
    const name =
      title
        .replace(/[^\p{L}\p{N} _-]+/gu, "")
        .slice(0, 60)
        .trim() || "conversation";
    saveFile(`${name}.md`, conversationMarkdown(title, turns, words), "text/markdown");
  }

  return (
    <header class="conversation-head">
      <h1 title={title}>{title}</h1>
      <Menu label={t("chat.menu")}>
        {buttons}
        <button
          type="button"
          onClick={() => {
            setFailed(null);
            exportAll().catch((error: unknown) => setFailed(failureText(error)));
          }}
        >
          {t("chat.export")}
        </button>
      </Menu>
      {failed && <Failure text={failed} />}
      {outcome}
    </header>
  );
}
