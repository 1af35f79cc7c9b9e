// The conversations of the side column: searched, by folder and date, each with its menu.

import { Fragment, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FoundConversation } from "../../../core/wire/conversation.ts";
import { browserClock } from "../browser-time.ts";
import { groupByDate } from "../core/date-groups.ts";
import { piecesOf } from "../core/found-text.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu } from "../parts/menu.tsx";
import { useNow } from "../parts/now.ts";
import { follow, type Place } from "../routes.ts";
import { useStore } from "../store.ts";
import { monthText, t } from "../text/text.ts";
import { useConversationActs } from "./conversation-acts.tsx";
import { conversationList, loadConversations, loadMoreConversations } from "./conversation-list.ts";
import { Folders } from "./folders.tsx";
import { unread } from "./unread.ts";

export function ConversationColumn({ place }: { readonly place: Place }): VNode {
  const list = useStore(conversationList);
  const now = useNow(60_000);
  const [search, setSearch] = useState(list.search);
  /** The one whose menu was opened last. */
  const [chosen, setChosen] = useState({ id: "", title: "" });
  const acts = useConversationActs(chosen.id, chosen.title);

  useEffect(() => {
    if (search === list.search) return;
    return browserClock.after(250, () => void loadConversations({ search }));
  }, [search, list.search]);

  const pinned = list.items.filter((item) => item.pinned);
  const groups = groupByDate(
    list.items.filter((item) => !item.pinned),
    now,
  );
  const show = (item: FoundConversation): VNode => {
    const title = item.title || t("chat.new");
    return (
      <li key={item.id}>
        <ConversationLink item={item} title={title} words={list.search} isHere={isAt(place, item.id)} />
        <Menu label={t("chat.menuOf", { title })} floating onOpen={() => setChosen({ id: item.id, title })}>
          {chosen.id === item.id && acts.buttons}
        </Menu>
      </li>
    );
  };

  return (
    <nav class="conversations" aria-label={t("nav.conversations")}>
      <label class="search">
        <Icon name="search" />
        <input
          id="conversation-search"
          type="search"
          value={search}
          placeholder={t("chat.search")}
          aria-label={t("chat.search")}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <div class="scroll">
        {acts.outcome}
        {list.state === "failed" && <Failure text={t("chat.listFailed")} onRetry={() => void loadConversations()} />}
        {list.state === "ready" && !list.complete && <p class="none">{t("chat.searchedPart")}</p>}
        {list.state === "ready" && list.items.length === 0 && list.complete && (
          <p class="none">
            {list.search ? t("chat.noneFound") : list.archived ? t("chat.noneArchived") : t("chat.none")}
          </p>
        )}
        {!list.archived && list.search === "" && <Folders />}
        {pinned.length > 0 && <h2>{t("chat.pinned")}</h2>}
        <ul>{pinned.map(show)}</ul>
        {groups.map(({ key, items }) => (
          <Fragment key={key}>
            <h2>{isSpan(key) ? t(`chat.date.${key}`) : monthText(key)}</h2>
            <ul>{items.map(show)}</ul>
          </Fragment>
        ))}
        {list.next !== null && (
          <button type="button" class="link" onClick={() => void loadMoreConversations().catch(() => undefined)}>
            {t(list.complete ? "more" : "chat.searchOlder")}
          </button>
        )}
        <button
          type="button"
          class="link archive"
          aria-pressed={list.archived}
          onClick={() => void loadConversations({ archived: !list.archived })}
        >
          {list.archived ? t("chat.showRecent") : t("chat.showArchived")}
        </button>
      </div>
    </nav>
  );
}

const isSpan = (key: string): key is "today" | "yesterday" | "week" | "month" => !/^\d/.test(key);
const isAt = (place: Place, id: string): boolean => place.page === "chat" && place.id === id;

interface LinkProps {
  readonly item: FoundConversation;
  readonly title: string;
  /** What was searched for. */
  readonly words: string;
  readonly isHere: boolean;
}

function ConversationLink({ item, title, words, isHere }: LinkProps): VNode {
  const isUnread = item.id in useStore(unread);
  const { found = null } = item;
  return (
    <a
      href={found === null ? `/c/${item.id}` : `/c/${item.id}?turn=${found.turnId}`}
      aria-current={isHere ? "page" : undefined}
      class={isUnread ? "unread" : undefined}
      onClick={follow}
    >
      <span class="title">{title}</span>
      {(item.turnState === "running" || item.turnState === "queued") && (
        <span class="pulse" role="img" aria-label={t("turn.running")} />
      )}
      {item.turnState === "waiting" && <span class="dot" role="img" aria-label={t("turn.waiting")} />}
      {isUnread && <span class="dot" role="img" aria-label={t("chat.unread")} />}
      {found !== null && (
        <span class="found">
          {piecesOf(found.text, words).map(({ text, isMatch }, index) =>
            isMatch ? <mark key={index}>{text}</mark> : text,
          )}
        </span>
      )}
    </a>
  );
}
