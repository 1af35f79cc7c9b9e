// Folders: the list above the chats, and the moving of one. A folder is there as long as something lies in it.

import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useStore } from "../store.ts";
import { numberText, t } from "../text/text.ts";
import { conversationList, loadConversations } from "./conversation-list.ts";

/** Nothing where there are none. */
export function Folders(): VNode | null {
  const { folders, folder } = useStore(conversationList);
  if (folders.length === 0) return null;
  return (
    <section aria-label={t("folder.title")}>
      <h2>{t("folder.title")}</h2>
      <ul class="folders">
        {folders.map(({ name, count }) => (
          <li key={name}>
            <button
              type="button"
              class="link"
              aria-pressed={name === folder}
              onClick={() => void loadConversations({ folder: name === folder ? null : name, archived: false })}
            >
              <Icon name="folder" />
              <span class="title">{name}</span> <span class="soft">{numberText(count)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MoveProps {
  readonly folder: string | null;
  readonly onMove: (folder: string | null) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks where a chat is to lie: a folder that is there, a new one, or none. */
export function MoveDialog({ folder, onMove, onClose }: MoveProps): VNode {
  const { folders } = useStore(conversationList);
  const [value, setValue] = useState(folder ?? "");
  const [failed, setFailed] = useState<string | null>(null);
  const known = useId();
  const move = (to: string | null): void => {
    onMove(to).then(onClose, (error: unknown) => setFailed(failureText(error)));
  };
  return (
    <Dialog title={t("folder.move")} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          move(value.trim());
        }}
      >
        <label>
          {t("folder.name")}
          <input
            value={value}
            maxLength={60}
            required
            pattern=".*\S.*"
            list={known}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <datalist id={known}>
          {folders.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <p class="soft">{t("folder.text")}</p>
        {failed && <Failure text={failed} />}
        <footer>
          {folder !== null && (
            <button type="button" onClick={() => move(null)}>
              {t("folder.out")}
            </button>
          )}
          <button type="submit" class="primary" disabled={value.trim() === ""}>
            {t("folder.here")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
