// The palette (Ctrl K): a chat, a page or an act, by what is typed. Loaded when it is first asked for.

import type { VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { ConversationPage, FoundConversation } from "../../core/wire/conversation.ts";
import { signOut } from "./account.ts";
import { call } from "./api.ts";
import { browserClock } from "./browser-time.ts";
import { conversationList } from "./chat/conversation-list.ts";
import { piecesOf } from "./core/found-text.ts";
import { keyAfter, namedBy, type Offered } from "./core/palette.ts";
import { Dialog } from "./parts/dialog.tsx";
import { failureText } from "./parts/failure.tsx";
import { go } from "./routes.ts";
import { chooseLanguage, languageNow, t } from "./text/text.ts";
import { chooseTheme, THEMES, themeNow } from "./theme.ts";

export interface PaletteProps {
  readonly isAdministrator: boolean;
  readonly onHelp: () => void;
  readonly onClose: () => void;
}

interface Offer extends Offered {
  /** A passage beside the name. */
  readonly passage?: string;
  readonly act: () => void;
}

const CHATS = 8;
const TYPED_MS = 200;

export function Palette({ isAdministrator, onHelp, onClose }: PaletteProps): VNode {
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState<string | null>(null);
  const { found, failed } = useFoundChats(typed.trim());
  const listId = useId();

  const acts = namedBy(actsOf(isAdministrator, onHelp), typed);
  const known = namedBy(conversationList.get().items.map(chatOffer), typed).slice(0, CHATS);
  const knownKeys = new Set(known.map(({ key }) => key));
  const chats = [...known, ...found.map(chatOffer).filter(({ key }) => !knownKeys.has(key))];
  const groups = [
    { name: t("palette.acts"), offers: acts },
    { name: t("palette.chats"), offers: chats },
  ];
  // What was typed names what is wanted; before that, it is mostly a chat.
  if (typed.trim() === "") groups.reverse();
  const offers = groups.flatMap((group) => group.offers);
  const chosen = keyAfter(offers, active, 0);
  const optionId = (key: string): string => `${listId}-${key}`;

  useEffect(() => {
    if (chosen !== null) document.getElementById(optionId(chosen))?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  function take(key: string | null): void {
    const offer = offers.find((one) => one.key === key);
    if (!offer) return;
    onClose();
    offer.act();
  }

  function press(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") setActive(keyAfter(offers, chosen, 1));
    else if (event.key === "ArrowUp") setActive(keyAfter(offers, chosen, -1));
    else if (event.key === "Enter") take(chosen);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog title={t("palette.title")} onClose={onClose}>
      <div class="palette">
        <input
          type="text"
          // biome-ignore lint/a11y/noRedundantRoles: without a list it has that role by its word alone
          role="combobox"
          list={undefined}
          aria-label={t("palette.label")}
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={chosen === null ? undefined : optionId(chosen)}
          placeholder={t("palette.label")}
          value={typed}
          // A dialog gives the focus to what says so when it opens.
          ref={(field) => field?.setAttribute("autofocus", "")}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setActive(null);
          }}
          onKeyDown={press}
        />
        <div role="listbox" id={listId} aria-label={t("palette.title")} tabIndex={-1}>
          {groups
            .filter((group) => group.offers.length > 0)
            .map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a listbox has groups of options, a fieldset has fields
              <div key={group.name} role="group" aria-label={group.name}>
                <div class="group" aria-hidden="true">
                  {group.name}
                </div>
                {group.offers.map(({ key, name, passage }) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
                  <div
                    key={key}
                    id={optionId(key)}
                    class="option"
                    role="option"
                    tabIndex={-1}
                    aria-selected={key === chosen}
                    onClick={() => take(key)}
                  >
                    {name}
                    {passage !== undefined && (
                      <span class="found">
                        {piecesOf(passage, typed).map(({ text, isMatch }, index) =>
                          isMatch ? <mark key={index}>{text}</mark> : text,
                        )}
                      </span>
                    )}
                  </div>
                ))}
              </div>
            ))}
        </div>
        <p class="none" role="status">
          {failed ?? (offers.length === 0 ? t("chat.noneFound") : "")}
        </p>
      </div>
    </Dialog>
  );
}

function actsOf(isAdministrator: boolean, onHelp: () => void): readonly Offer[] {
  const pages = ["recordings", "batches", "playbooks", "assistants", "prompts", "schedules", "schemas"] as const;
  return [
    { key: "new", name: t("chat.new"), act: () => go("/") },
    ...pages.map((page) => ({ key: page, name: t(`nav.${page}`), act: () => go(`/${page}`) })),
    ...(isAdministrator ? [{ key: "admin", name: t("nav.admin"), act: () => go("/admin") }] : []),
    ...THEMES.filter((theme) => theme !== themeNow()).map((theme) => ({
      key: `theme-${theme}`,
      name: `${t("theme")}: ${t(`theme.${theme}`)}`,
      act: () => chooseTheme(theme),
    })),
    languageNow() === "ko"
      ? { key: "language", name: `${t("language")}: English`, act: () => chooseLanguage("en") }
      : { key: "language", name: `${t("language")}: 한국어`, act: () => chooseLanguage("ko") },
    { key: "keys", name: t("keys.title"), act: onHelp },
    { key: "sign-out", name: t("signOut"), act: () => void signOut() },
  ];
}

function chatOffer({ id, title, found = null }: FoundConversation): Offer {
  return {
    key: id,
    name: title || t("chat.new"),
    ...(found === null ? {} : { passage: found.text }),
    act: () => go(found === null ? `/c/${id}` : `/c/${id}?turn=${found.turnId}`),
  };
}

/** Chats the server finds, archived ones aside, once nothing was typed for a moment. */
function useFoundChats(words: string): {
  readonly found: readonly FoundConversation[];
  readonly failed: string | null;
} {
  const [answer, setAnswer] = useState({
    words: "",
    found: [] as readonly FoundConversation[],
    failed: null as string | null,
  });
  useEffect(() => {
    if (words === "") return;
    const stop = new AbortController();
    const cancel = browserClock.after(TYPED_MS, () => {
      const query = new URLSearchParams({ limit: String(CHATS), search: words.slice(0, 200) });
      call<ConversationPage>(`/api/conversations?${query}`, { signal: stop.signal }).then(
        ({ items }) => setAnswer({ words, found: items, failed: null }),
        (error: unknown) => {
          if (!stop.signal.aborted) setAnswer({ words, found: [], failed: failureText(error) });
        },
      );
    });
    return () => {
      cancel();
      stop.abort();
    };
  }, [words]);
  return answer.words === words ? answer : { found: [], failed: null };
}
