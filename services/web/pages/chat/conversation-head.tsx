// A conversation's head: its title, and what can be done with it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { browserClock } from "../browser-time.ts";
import { Failure, failureText } from "../parts/failure.tsx";
import { Menu } from "../parts/menu.tsx";
import { useStore } from "../store.ts";
import { languageNow, t } from "../text/text.ts";
import { MOST_PAGE_TURNS, type OpenConversation, readEarlier } from "./conversation.ts";
import { useConversationActs } from "./conversation-acts.tsx";
import { conversationList } from "./conversation-list.ts";
import type { ShareDialog } from "./share-dialog.tsx";

export function ConversationHead({ conversation }: { readonly conversation: OpenConversation }): VNode {
  const [failed, setFailed] = useState<string | null>(null);
  const [Share, setShare] = useState<typeof ShareDialog | null>(null);
  const listed = useStore(conversationList).items.find((item) => item.id === conversation.id);
  const title = listed?.title || conversation.title || conversation.turns[0]?.text.slice(0, 80) || t("chat.new");

  const { buttons, outcome } = useConversationActs(conversation.id, title);

  const file = (format: "markdown" | "json"): string =>
    `/api/conversations/${conversation.id}/export?format=${format}&language=${languageNow()}`;

  /** A page prints what is on it: all turns are read first. */
  async function print(): Promise<void> {
    while (await readEarlier(conversation.id, MOST_PAGE_TURNS));
    // Drawn when the next frame is.
    await browserClock.sleep(300);
    globalThis.print();
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
            import("./share-dialog.tsx").then(
              (module) => setShare(() => module.ShareDialog),
              () => setFailed(t("page.failed")),
            );
          }}
        >
          {t("share.open")}
        </button>
        <a href={file("markdown")} download>
          {t("chat.export")}
        </a>
        <a href={file("json")} download>
          {t("chat.exportJson")}
        </a>
        <button
          type="button"
          onClick={() => {
            setFailed(null);
            print().catch((error: unknown) => setFailed(failureText(error)));
          }}
        >
          {t("chat.print")}
        </button>
      </Menu>
      {failed && <Failure text={failed} />}
      {outcome}
      {Share && <Share id={conversation.id} onClose={() => setShare(null)} />}
    </header>
  );
}
