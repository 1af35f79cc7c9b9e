// Notices of what ended while the user was elsewhere. Invariant: a notice leads there only when it is pressed.

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { browserClock } from "./browser-time.ts";
import { markUnread } from "./chat/unread.ts";
import type { TurnView } from "./core/turn-view.ts";
import { readKept } from "./kept.ts";
import { Icon } from "./parts/icon.tsx";
import { follow, go, type Place } from "./routes.ts";
import { createStore, type Store, useStore } from "./store.ts";
import { t } from "./text/text.ts";

interface Notice {
  readonly id: string;
  readonly text: string;
  readonly path: string;
}

const notices: Store<readonly Notice[]> = createStore<readonly Notice[]>([]);
const LIFE_MS = 12_000;

/** Shows a notice in the page, and by the system where the user allowed it and the tab is hidden. */
function notice(id: string, text: string, path: string): void {
  notices.set((now) => [...now.filter((old) => old.id !== id), { id, text, path }]);
  if (!document.hidden || typeof Notification === "undefined" || Notification.permission !== "granted") return;
  if (!readKept<boolean>("notify", false)) return;
  const shown = new Notification("Owl", { body: text, tag: id, icon: "/icon.svg" });
  shown.onclick = () => {
    window.focus();
    go(path);
  };
}

/** A turn ended: marked unread and told, unless its conversation is in sight. */
export function noticeTurnEnd(turn: TurnView, title: string, place: Place): void {
  const isOpen = place.page === "chat" && place.id === turn.conversationId;
  if (isOpen && !document.hidden) return;
  markUnread(turn.conversationId, turn.endedAt ?? turn.createdAt);
  const name = (title || turn.text || t("chat.new")).slice(0, 60);
  const key =
    turn.state === "answered" ? "notice.answered" : turn.state === "failed" ? "notice.failed" : "notice.stopped";
  notice(turn.conversationId, t(key, { title: name }), `/c/${turn.conversationId}`);
}

function remove(id: string): void {
  notices.set((now) => now.filter((item) => item.id !== id));
}

export function Notices(): VNode {
  const all = useStore(notices);
  return (
    <div class="notices" aria-live="polite">
      {all.map((item) => (
        <NoticeView key={item.id} item={item} />
      ))}
    </div>
  );
}

function NoticeView({ item }: { readonly item: Notice }): VNode {
  useEffect(() => browserClock.after(LIFE_MS, () => !document.hidden && remove(item.id)), [item]);
  return (
    <div class="notice">
      <a
        href={item.path}
        onClick={(event) => {
          follow(event);
          remove(item.id);
        }}
      >
        {item.text}
      </a>
      <button type="button" class="quiet" aria-label={t("close")} onClick={() => remove(item.id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
