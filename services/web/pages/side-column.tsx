// The side column: pages, conversations with search and unread marks, the account.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedConversation } from "../../core/wire/conversation.ts";
import type { Session as Account } from "../../core/wire/session.ts";
import { signOut } from "./account.ts";
import { AccountDialog } from "./account-dialog.tsx";
import { browserClock } from "./browser-time.ts";
import { conversationList, loadConversations, loadMoreConversations } from "./chat/conversation-list.ts";
import { unread } from "./chat/unread.ts";
import { keep, readKept } from "./kept.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Failure } from "./parts/failure.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { Menu } from "./parts/menu.tsx";
import { follow, type Place } from "./routes.ts";
import { PasswordForm } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { chooseLanguage, languageNow, t } from "./text/text.ts";
import { chooseTheme, THEMES, type Theme, themeNow } from "./theme.ts";

interface SideColumnProps {
  readonly account: Account;
  readonly place: Place;
  readonly onHelp: () => void;
}

const PAGES: readonly { readonly page: Place["page"]; readonly icon: IconName; readonly also?: Place["page"] }[] = [
  { page: "recordings", icon: "recordings" },
  { page: "batches", icon: "batches" },
  { page: "playbooks", icon: "playbooks", also: "playbook-runs" },
  { page: "schedules", icon: "schedules" },
  { page: "schemas", icon: "schemas" },
];

export function SideColumn({ account, place, onHelp }: SideColumnProps): VNode {
  const pages = account.role === "administrator" ? [...PAGES, { page: "admin", icon: "admin" } as const] : PAGES;
  return (
    <aside class="side">
      <a class="mark" href="/" onClick={follow}>
        <img src="/icon.svg" alt="" width="26" height="26" />
        Owl
      </a>
      <nav aria-label={t("nav.pages")}>
        <a
          class="new"
          href="/"
          aria-current={place.page === "chat" && place.id === null ? "page" : undefined}
          onClick={follow}
        >
          <Icon name="plus" />
          {t("chat.new")}
        </a>
        {pages.map(({ page, icon, ...rest }) => (
          <a
            key={page}
            href={`/${page}`}
            aria-current={place.page === page || ("also" in rest && place.page === rest.also) ? "page" : undefined}
            onClick={follow}
          >
            <Icon name={icon} />
            {t(`nav.${page}` as "nav.recordings")}
          </a>
        ))}
      </nav>
      <Conversations place={place} />
      <AccountMenu account={account} onHelp={onHelp} />
    </aside>
  );
}

function Conversations({ place }: { readonly place: Place }): VNode {
  const list = useStore(conversationList);
  const marks = useStore(unread);
  const [search, setSearch] = useState(list.search);

  useEffect(() => {
    if (search === list.search) return;
    return browserClock.after(250, () => void loadConversations({ search }));
  }, [search, list.search]);

  const pinned = list.items.filter((item) => item.pinned);
  const others = list.items.filter((item) => !item.pinned);
  const show = (item: ListedConversation): VNode => (
    <li key={item.id}>
      <a
        href={`/c/${item.id}`}
        aria-current={place.page === "chat" && place.id === item.id ? "page" : undefined}
        class={item.id in marks ? "unread" : undefined}
        onClick={follow}
      >
        <span class="title">{item.title || t("chat.new")}</span>
        {(item.turnState === "running" || item.turnState === "queued") && (
          <span class="pulse" role="img" aria-label={t("turn.running")} />
        )}
        {item.turnState === "waiting" && <span class="dot" role="img" aria-label={t("turn.waiting")} />}
        {item.id in marks && <span class="dot" role="img" aria-label={t("chat.unread")} />}
      </a>
    </li>
  );

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
        {list.state === "failed" && <Failure text={t("chat.listFailed")} onRetry={() => void loadConversations()} />}
        {list.state === "ready" && !list.complete && <p class="none">{t("chat.searchedPart")}</p>}
        {list.state === "ready" && list.items.length === 0 && list.complete && (
          <p class="none">
            {list.search ? t("chat.noneFound") : list.archived ? t("chat.noneArchived") : t("chat.none")}
          </p>
        )}
        {pinned.length > 0 && <h2>{t("chat.pinned")}</h2>}
        <ul>{pinned.map(show)}</ul>
        {pinned.length > 0 && others.length > 0 && <h2>{t("chat.recent")}</h2>}
        <ul>{others.map(show)}</ul>
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

function AccountMenu({ account, onHelp }: { readonly account: Account; readonly onHelp: () => void }): VNode {
  const [usage, setUsage] = useState(false);
  const [password, setPassword] = useState(false);
  const [theme, setTheme] = useState<Theme>(themeNow());
  const [notify, setNotify] = useState(readKept<boolean>("notify", false));
  const canNotify = typeof Notification !== "undefined";

  async function switchNotify(): Promise<void> {
    const next = !notify && (await Notification.requestPermission()) === "granted";
    keep("notify", next ? true : null);
    setNotify(next);
  }

  return (
    <div class="account">
      <Menu
        label={t("account.menu")}
        up
        face={
          <>
            <span class="initial" aria-hidden="true">
              {account.name.slice(0, 1).toUpperCase()}
            </span>
            <span class="name">{account.name}</span>
          </>
        }
      >
        <fieldset>
          <legend>{t("theme")}</legend>
          {THEMES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={theme === name}
              onClick={() => {
                chooseTheme(name);
                setTheme(name);
              }}
            >
              {t(`theme.${name}`)}
            </button>
          ))}
        </fieldset>
        <fieldset>
          <legend>{t("language")}</legend>
          {(["ko", "en"] as const).map((code) => (
            <button
              key={code}
              type="button"
              lang={code}
              aria-pressed={languageNow() === code}
              onClick={() => chooseLanguage(code)}
            >
              {code === "ko" ? "한국어" : "English"}
            </button>
          ))}
        </fieldset>
        {canNotify && (
          <button type="button" aria-pressed={notify} onClick={() => void switchNotify()}>
            {notify ? t("notify.off") : t("notify.on")}
          </button>
        )}
        <button type="button" onClick={onHelp}>
          {t("keys.title")}
        </button>
        <button type="button" onClick={() => setUsage(true)}>
          {t("usage.title")}
        </button>
        <button type="button" onClick={() => setPassword(true)}>
          {t("password.title")}
        </button>
        <button type="button" onClick={() => void signOut()}>
          {t("signOut")}
        </button>
      </Menu>
      {usage && <AccountDialog onClose={() => setUsage(false)} />}
      {password && (
        <Dialog title={t("password.title")} onClose={() => setPassword(false)}>
          <PasswordForm onDone={() => setPassword(false)} />
        </Dialog>
      )}
    </div>
  );
}
