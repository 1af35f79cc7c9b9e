// A conversation's head: title, rename, pin, archive, export, delete.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { conversationMarkdown } from "../core/conversation-markdown.ts";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { Menu } from "../parts/menu.tsx";
import { saveFile } from "../parts/save-file.ts";
import { go } from "../routes.ts";
import { useStore } from "../store.ts";
import { t } from "../text/text.ts";
import {
  forgetConversation,
  holdConversation,
  MOST_PAGE_TURNS,
  type OpenConversation,
  readEarlier,
} from "./conversation.ts";
import { changeConversation, conversationList, deleteConversation, renameConversation } from "./conversation-list.ts";

export function ConversationHead({ conversation }: { readonly conversation: OpenConversation }): VNode {
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const listed = useStore(conversationList).items.find((item) => item.id === conversation.id);
  const title = listed?.title || conversation.title || conversation.turns[0]?.text.slice(0, 80) || t("chat.new");

  const attempt = (act: Promise<void>): void => {
    setFailed(null);
    act.catch((error: unknown) => setFailed(failureText(error)));
  };

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
        <button type="button" onClick={() => setDialog("rename")}>
          {t("chat.rename")}
        </button>
        {listed && (
          <button type="button" onClick={() => attempt(changeConversation(listed.id, { pinned: !listed.pinned }))}>
            {listed.pinned ? t("chat.unpin") : t("chat.pin")}
          </button>
        )}
        {listed && (
          <button type="button" onClick={() => attempt(changeConversation(listed.id, { archived: !listed.archived }))}>
            {listed.archived ? t("chat.unarchive") : t("chat.archive")}
          </button>
        )}
        <button type="button" onClick={() => attempt(exportAll())}>
          {t("chat.export")}
        </button>
        <button type="button" class="danger" onClick={() => setDialog("delete")}>
          {t("delete")}
        </button>
      </Menu>
      {failed && <Failure text={failed} />}
      {dialog === "rename" && (
        <Rename
          title={title}
          onClose={() => setDialog(null)}
          onRename={async (next) => {
            await renameConversation(conversation.id, next);
            holdConversation(conversation.id).set((now) => ({ ...now, title: next }));
          }}
        />
      )}
      {dialog === "delete" && (
        <Confirm
          title={t("chat.delete")}
          text={t("chat.deleteText", { title })}
          action={t("delete")}
          danger
          onClose={() => setDialog(null)}
          onConfirm={() => {
            setDialog(null);
            attempt(
              deleteConversation(conversation.id).then(() => {
                forgetConversation(conversation.id);
                go("/");
              }),
            );
          }}
        />
      )}
    </header>
  );
}

interface RenameProps {
  readonly title: string;
  readonly onRename: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

function Rename({ title, onRename, onClose }: RenameProps): VNode {
  const [value, setValue] = useState(title);
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <Dialog title={t("chat.rename")} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onRename(value.trim()).then(onClose, (error: unknown) => setFailed(failureText(error)));
        }}
      >
        <label>
          {t("chat.title")}
          <input value={value} maxLength={200} required onInput={(event) => setValue(event.currentTarget.value)} />
        </label>
        {failed && <Failure text={failed} />}
        <footer>
          <button type="button" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="primary" disabled={value.trim() === ""}>
            {t("save")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
