// The side column: pages, conversations, the account.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Session as Account } from "../../core/wire/session.ts";
import { signOut } from "./account.ts";
import { AccountDialog } from "./account-dialog.tsx";
import { ConversationColumn } from "./chat/conversation-column.tsx";
import { keep, readKept } from "./kept.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { Menu } from "./parts/menu.tsx";
import { follow, type Place } from "./routes.ts";
import { PasswordForm } from "./sign-in.tsx";
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
  { page: "assistants", icon: "assistants", also: "prompts" },
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
      <ConversationColumn place={place} />
      <AccountMenu account={account} onHelp={onHelp} />
    </aside>
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
        {account.hasPassword && (
          <button type="button" onClick={() => setPassword(true)}>
            {t("password.title")}
          </button>
        )}
        <button type="button" onClick={() => void signOut()}>
          {t("signOut")}
        </button>
      </Menu>
      {usage && <AccountDialog hasPassword={account.hasPassword} onClose={() => setUsage(false)} />}
      {password && (
        <Dialog title={t("password.title")} onClose={() => setPassword(false)}>
          <PasswordForm onDone={() => setPassword(false)} />
        </Dialog>
      )}
    </div>
  );
}
