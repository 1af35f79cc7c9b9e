// The chat page: one conversation, or the beginning of one.

import type { RefObject, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { hasEnded } from "../core/turn-view.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useStore } from "../store.ts";
import { t, useLanguage } from "../text/text.ts";
import { AssistantChoice } from "./assistant-choice.tsx";
import { AttachedFiles } from "./attached-files.tsx";
import { Composer, isTouch } from "./composer.tsx";
import {
  BEGINNING,
  holdConversation,
  type OpenConversation,
  readConversation,
  readEarlier,
  stopTurn,
} from "./conversation.ts";
import { ConversationHead } from "./conversation-head.tsx";
import { offered } from "./draft.ts";
import { attachFiles } from "./draft-files.ts";
import { useFileDrop } from "./file-drop.ts";
import { ModelChoice, useVision } from "./model-choice.tsx";
import { type Chosen, newChat } from "./new-chat.ts";
import { ask, askAgain, type Outgoing, outbox, withdraw } from "./outbox.ts";
import { useSoughtTurn } from "./sought-turn.ts";
import { Turn } from "./turn.tsx";
import { markSeen } from "./unread.ts";

const FOLLOW_PX = 40;
const emptyStore = { get: () => BEGINNING, set: () => undefined, subscribe: () => () => undefined };

export function ChatPage({ id }: { readonly id: string | null }): VNode {
  const language = useLanguage();
  const conversation = useStore(id === null ? emptyStore : holdConversation(id));
  const unsent = useStore(outbox).filter((item) => item.conversationId === id);
  const { isOver, drop } = useFileDrop((files) => attachFiles(id, files));
  const { box, end, isFollowing, jump, leave } = useFollowing(id, conversation, unsent.length);
  const earlier = useReadingBack(id, box, conversation);
  useSoughtTurn(box, conversation, leave);

  useEffect(() => {
    if (id === null) return;
    void readConversation(id);
    const seen = (): void => {
      if (!document.hidden) markSeen(id);
    };
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [id]);

  const shown = conversation.id === (id ?? "") ? conversation : { ...BEGINNING, load: "loading" as const };
  const begun = useStore(newChat);
  const assistant: Chosen | null = id === null ? begun.assistant : shown.assistant;
  const unseen = useVision(id === null ? null : conversation)?.why ?? null;
  const live = shown.turns.find((turn) => !hasEnded(turn.state));
  const last = shown.turns.at(-1);

  if (shown.load === "missing") {
    return (
      <section class="page empty">
        <h1>{t("chat.missing")}</h1>
        <p>{t("chat.missingText")}</p>
      </section>
    );
  }
  const isNew = shown.turns.length === 0 && unsent.length === 0 && shown.load === "ready";
  const looks = ["chat", isNew ? "beginning" : "", isOver ? "over" : ""].filter((name) => name !== "").join(" ");
  return (
    <section class={looks} aria-label={shown.title || t("chat.new")} {...drop}>
      {id !== null && <ConversationHead conversation={shown} />}
      <div class="turns" ref={box}>
        <div class="column">
          {shown.load === "loading" && shown.turns.length === 0 && <p class="loading">{t("loading")}</p>}
          {shown.load === "failed" && (
            <Failure text={t("chat.failed")} onRetry={() => id !== null && void readConversation(id)} />
          )}
          {isNew && <Beginning assistant={assistant} onPick={(text) => offered.set({ text })} />}
          {shown.earlier !== null && id !== null && (
            <button type="button" class="earlier" ref={earlier} onClick={() => readBack(id)}>
              {t("chat.earlier")}
            </button>
          )}
          {shown.turns.map((turn) => (
            <Turn
              key={turn.id}
              turn={turn}
              language={language}
              onAgain={({ id: versionOf, text, attachments }) => {
                jump();
                void ask(id, text, attachments, versionOf);
              }}
              onEdit={({ id: versionOf, text, attachments }) => offered.set({ text, files: attachments, versionOf })}
            />
          ))}
          {unsent.map((item) => (
            <Unsent key={item.key} item={item} />
          ))}
          <div ref={end} class="end" />
        </div>
      </div>
      <div class="foot">
        {!isFollowing && (
          <button type="button" class="jump" onClick={jump}>
            <Icon name="down" />
            {t("chat.latest")}
          </button>
        )}
        <Composer
          conversationId={id}
          unseen={unseen}
          isBusy={live !== undefined}
          lastQuestion={last ?? null}
          onAsk={(text, files, versionOf) => {
            jump();
            void ask(id, text, files, versionOf);
          }}
          onStop={() => live && void stopTurn(live).catch(() => undefined)}
        />
        <div class="choices">
          <AssistantChoice conversation={id === null ? null : shown} />
          <ModelChoice conversationId={id} model={shown.model} ofAssistant={assistant?.model ?? null} />
        </div>
        <p class="hint">{live ? t("chat.goesOn") : t(isTouch() ? "composer.touchHint" : "composer.hint")}</p>
      </div>
    </section>
  );
}

/** Stays at the end while the reader is there; the first look at a conversation is its end. */
function useFollowing(id: string | null, conversation: OpenConversation, unsent: number) {
  const box = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  /** Where we put the box last; above it, the reader did. */
  const scrolledTo = useRef(0);
  const [isFollowing, setFollowing] = useState(true);

  useEffect(() => {
    following.current = true;
    scrolledTo.current = 0;
    setFollowing(true);
    const element = box.current;
    if (!element) return;
    const look = (): void => {
      const near = element.scrollHeight - element.scrollTop - element.clientHeight <= FOLLOW_PX;
      following.current = near;
      setFollowing(near);
    };
    element.addEventListener("scroll", look, { passive: true });
    // Code and tables fold out and pictures arrive: the end moves without a new event.
    const grown = new ResizeObserver(() => following.current && scroll());
    if (element.firstElementChild) grown.observe(element.firstElementChild);
    return () => {
      element.removeEventListener("scroll", look);
      grown.disconnect();
    };
  }, [id]);

  function scroll(): void {
    const element = box.current;
    if (!element) return;
    // The reader has moved up since, and its scroll event is still to come: new text must not be faster than the hand.
    const isMovedUp = element.scrollTop < scrolledTo.current - 1;
    if (isMovedUp && element.scrollHeight - element.scrollTop - element.clientHeight > FOLLOW_PX) {
      following.current = false;
      setFollowing(false);
      return;
    }
    element.scrollTop = element.scrollHeight;
    scrolledTo.current = element.scrollTop;
  }

  useLayoutEffect(() => {
    if (following.current) scroll();
  }, [conversation, unsent]);

  return {
    box,
    end,
    isFollowing,
    leave() {
      following.current = false;
      setFollowing(false);
    },
    jump() {
      following.current = true;
      scrolledTo.current = 0;
      setFollowing(true);
      scroll();
    },
  };
}

/** A failure leaves the button: pressing it tries again. */
const readBack = (id: string): void => void readEarlier(id).catch(() => undefined);

/** Reads the turns before the first one as the reader comes near them, and leaves in place what is looked at. */
function useReadingBack(id: string | null, box: RefObject<HTMLDivElement | null>, conversation: OpenConversation) {
  const button = useRef<HTMLButtonElement>(null);
  const before = useRef({ first: "", topPx: 0 });
  const first = conversation.turns[0]?.id ?? "";

  useLayoutEffect(() => {
    const element = box.current;
    const topOf = (turn: string): number | null =>
      element?.querySelector<HTMLElement>(`[data-turn="${turn}"]`)?.offsetTop ?? null;
    const old = before.current;
    if (old.first === first) return;
    const nowPx = old.first === "" ? null : topOf(old.first);
    if (element && nowPx !== null) element.scrollTop += nowPx - old.topPx;
    before.current = { first, topPx: topOf(first) ?? 0 };
  }, [conversation]);

  useEffect(() => {
    const element = button.current;
    if (!element || id === null) return;
    const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && readBack(id), {
      root: box.current,
      rootMargin: "600px 0px 0px 0px",
    });
    near.observe(element);
    return () => near.disconnect();
  }, [id, conversation.earlier]);

  return button;
}

interface BeginningProps {
  readonly assistant: Chosen | null;
  readonly onPick: (text: string) => void;
}

function Beginning({ assistant, onPick }: BeginningProps): VNode {
  const starters = assistant?.starters ?? [t("chat.starter1"), t("chat.starter2"), t("chat.starter3")];
  return (
    <div class="welcome">
      <h1>{assistant?.name ?? t("chat.welcome")}</h1>
      {assistant === null && <p>{t("chat.welcomeText")}</p>}
      <ul class="starters">
        {starters.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onPick(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Unsent({ item }: { readonly item: Outgoing }): VNode {
  return (
    <article class="turn unsent" data-state={item.state}>
      <div class="question">
        <AttachedFiles files={item.files ?? []} />
        <p class="bubble">{item.text}</p>
        <div class="actions" role="status">
          <span>{item.state === "refused" ? item.reason : t(`outbox.${item.state}`)}</span>
          {(item.state === "unsent" || item.state === "refused") && (
            <button type="button" class="link" onClick={() => void askAgain(item)}>
              {t("retry")}
            </button>
          )}
          {item.state !== "sending" && (
            <button type="button" class="link" onClick={() => offered.set(withdraw(item))}>
              {t("outbox.withdraw")}
            </button>
          )}
        </div>
      </div>
    </article>
  );
}
