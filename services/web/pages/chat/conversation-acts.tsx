// What can be done with a conversation, wherever it is listed or open: rename, pin, move, archive, delete.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { go, placeNow } from "../routes.ts";
import { useStore } from "../store.ts";
import { t } from "../text/text.ts";
import { forgetConversation, holdConversation } from "./conversation.ts";
import { changeConversation, conversationList, deleteConversation, renameConversation } from "./conversation-list.ts";
import { MoveDialog } from "./folders.tsx";

interface ConversationActs {
  /** The buttons, for a menu. */
  readonly buttons: VNode;
  /** What a button opened, and what failed; outside the menu, which closes. */
  readonly outcome: VNode;
}

export function useConversationActs(id: string, title: string): ConversationActs {
  const [dialog, setDialog] = useState<"rename" | "move" | "delete" | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const listed = useStore(conversationList).items.find((item) => item.id === id);

  const attempt = (act: Promise<void>): void => {
    setFailed(null);
    act.catch((error: unknown) => setFailed(failureText(error)));
  };

  async function remove(): Promise<void> {
    await deleteConversation(id);
    forgetConversation(id);
    const place = placeNow();
    if (place.page === "chat" && place.id === id) go("/");
  }

  const buttons = (
    <>
      <button type="button" onClick={() => setDialog("rename")}>
        {t("chat.rename")}
      </button>
      {listed && (
        <button type="button" onClick={() => attempt(changeConversation(id, { pinned: !listed.pinned }))}>
          {listed.pinned ? t("chat.unpin") : t("chat.pin")}
        </button>
      )}
      {listed && (
        <button type="button" onClick={() => setDialog("move")}>
          {t("folder.move")}
        </button>
      )}
      {listed && (
        <button type="button" onClick={() => attempt(changeConversation(id, { archived: !listed.archived }))}>
          {listed.archived ? t("chat.unarchive") : t("chat.archive")}
        </button>
      )}
      <button type="button" class="danger" onClick={() => setDialog("delete")}>
        {t("delete")}
      </button>
    </>
  );
  const outcome = (
    <>
      {failed && <Failure text={failed} />}
      {dialog === "rename" && (
        <Rename
          title={title}
          onClose={() => setDialog(null)}
          onRename={async (next) => {
            await renameConversation(id, next);
            holdConversation(id).set((now) => ({ ...now, title: next }));
          }}
        />
      )}
      {dialog === "move" && (
        <MoveDialog
          folder={listed?.folder ?? null}
          onClose={() => setDialog(null)}
          onMove={(folder) => changeConversation(id, { folder })}
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
            attempt(remove());
          }}
        />
      )}
    </>
  );
  return { buttons, outcome };
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
