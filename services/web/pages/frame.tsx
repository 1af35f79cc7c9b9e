// The frame around every page: side column with pages and conversations, account menu, notices.

import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session as Account } from "../../core/wire/session.ts";
import { ChatPage } from "./chat/chat-page.tsx";
import { holdConversation, onTurnEnded, watchTurns } from "./chat/conversation.ts";
import { conversationList, loadConversations } from "./chat/conversation-list.ts";
import { sendWaiting, watchOutbox } from "./chat/outbox.ts";
import { unread } from "./chat/unread.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { feedStatus, onLive } from "./events/live.ts";
import { KeyboardHelp, useShortcuts } from "./keyboard.tsx";
import { Notices, noticeTurnEnd } from "./notices.tsx";
import type { PaletteProps } from "./palette.tsx";
import { Icon } from "./parts/icon.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { go, type Place, placeNow, usePlace } from "./routes.ts";
import { SideColumn } from "./side-column.tsx";
import { useStore } from "./store.ts";
import { type TextKey, t } from "./text/text.ts";
import { VersionBanner } from "./version-banner.tsx";

interface PageProps {
  readonly id: string | null;
}

type PageLoader = () => Promise<{ readonly default: ComponentType<PageProps> }>;

const LAZY: Partial<Record<Place["page"], PageLoader>> = {
  recordings: () => import("./work/recordings-page.tsx"),
  batches: () => import("./work/batches-page.tsx"),
  playbooks: () => import("./work/playbooks-page.tsx"),
  "playbook-runs": () => import("./work/playbook-run-page.tsx"),
  assistants: () => import("./assistants/assistants-page.tsx"),
  prompts: () => import("./assistants/prompts-page.tsx"),
  schedules: () => import("./work/schedules-page.tsx"),
  schemas: () => import("./work/schemas-page.tsx"),
  admin: () => import("./admin/admin-page.tsx"),
};

export function Frame({ account }: { readonly account: Account }): VNode {
  const place = usePlace();
  // The side column over the page, on a phone: opened at one place, it is closed at every other.
  const [openAt, setOpenAt] = useState<Place | null>(null);
  const open = openAt === place;
  const [help, setHelp] = useState(false);
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const marks = useStore(unread);
  const isAdministrator = account.role === "administrator";

  useEffect(() => {
    const stop = new AbortController();
    void watchTurns(stop.signal);
    void watchOutbox(stop.signal);
    void loadConversations();
    sendWaiting();
    onTurnEnded((turn, title) => {
      noticeTurnEnd(turn, title, placeNow());
      sendWaiting();
    });
    // What could not be sent goes with the next connection.
    const leaveStatus = feedStatus.subscribe(() => feedStatus.get().state === "open" && sendWaiting());
    const leaveLive = onLive((event) => event.kind === "hello" && sendWaiting());
    return () => {
      stop.abort();
      leaveStatus();
      leaveLive();
    };
  }, []);

  const title = titleOf(place, useStore(conversationList).items);
  useEffect(() => {
    const count = Object.keys(marks).length;
    document.title = `${count > 0 ? `(${count}) ` : ""}${title === "" ? "" : `${title} · `}Owl`;
  }, [marks, title]);
  useShortcuts({
    onHelp: () => setHelp(true),
    onPalette: () => {
      import("./palette.tsx").then(
        (module) => setPalette(() => module.Palette),
        () => document.getElementById("conversation-search")?.focus(),
      );
    },
    onNew: () => go("/"),
  });

  return (
    <div class={open ? "frame open" : "frame"}>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <header class="top-bar">
        <button
          type="button"
          class="quiet"
          aria-label={t("menu")}
          aria-expanded={open}
          onClick={() => setOpenAt(open ? null : place)}
        >
          <Icon name="menu" />
        </button>
        <span class="mark">Owl</span>
        <button type="button" class="quiet" aria-label={t("chat.new")} onClick={() => go("/")}>
          <Icon name="plus" />
        </button>
      </header>
      <SideColumn account={account} place={place} onHelp={() => setHelp(true)} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the menu button closes it too */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div class="shade" onClick={() => setOpenAt(null)} />
      <main id="main" tabIndex={-1}>
        <VersionBanner />
        <ConnectionBanner />
        <Page place={place} isAdministrator={isAdministrator} />
      </main>
      <Notices />
      {Palette && (
        <Palette isAdministrator={isAdministrator} onHelp={() => setHelp(true)} onClose={() => setPalette(null)} />
      )}
      {help && <KeyboardHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

const PAGE_NAMES = {
  shared: "share.title",
  recordings: "nav.recordings",
  batches: "nav.batches",
  playbooks: "nav.playbooks",
  "playbook-runs": "nav.playbooks",
  assistants: "nav.assistants",
  prompts: "nav.prompts",
  schedules: "nav.schedules",
  schemas: "nav.schemas",
  admin: "nav.admin",
} as const satisfies Partial<Record<Place["page"], TextKey>>;

/** What the browser's tab calls the place; "" at the first page. */
function titleOf(place: Place, listed: readonly { readonly id: string; readonly title: string }[]): string {
  if (place.page === "unknown") return t("page.missing");
  if (place.page !== "chat") return t(PAGE_NAMES[place.page]);
  if (place.id === null) return "";
  const title = listed.find(({ id }) => id === place.id)?.title || holdConversation(place.id).get().title;
  return (title || t("chat.new")).slice(0, 80);
}

function Page({ place, isAdministrator }: { readonly place: Place; readonly isAdministrator: boolean }): VNode {
  if (place.page === "chat") return <ChatPage id={place.id} />;
  const load = LAZY[place.page];
  if (!load || (place.page === "admin" && !isAdministrator)) {
    return (
      <section class="page empty">
        <h1>{t("page.missing")}</h1>
        <p>{t("page.missingText")}</p>
      </section>
    );
  }
  return <Lazy key={place.page} load={load} id={place.id} />;
}
