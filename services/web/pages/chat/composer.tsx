// Where a question is written. Invariants: an Enter of an input method never sends; what is typed and attached is kept
// per conversation in this browser until the server has accepted it; a question never goes without a file beside it.

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Attachment } from "../../../core/wire/turn.ts";
import { readiness, readyFiles } from "../core/attached.ts";
import { mayEnterSend } from "../core/ime.ts";
import type { TurnView } from "../core/turn-view.ts";
import { keep, readKept } from "../kept.ts";
import { Icon } from "../parts/icon.tsx";
import { createStore, type Store, useStore } from "../store.ts";
import { t } from "../text/text.ts";
import { DraftFileList } from "./attached-files.tsx";
import { attachFiles, clearFiles, draftFiles, offerFiles } from "./draft-files.ts";
import { pastedFiles } from "./file-drop.ts";

/** A question another part wants in the composer (one to edit, an unsent one taken back); no `files`: they stay. */
interface Offer {
  readonly text: string;
  readonly files?: readonly Attachment[];
  readonly gone?: readonly string[];
}

export const offered: Store<Offer | null> = createStore<Offer | null>(null);

const LIMIT = 100_000;
const draftKey = (conversationId: string | null): string => `draft.${conversationId ?? "new"}`;

interface ComposerProps {
  readonly conversationId: string | null;
  readonly isBusy: boolean;
  readonly onAsk: (text: string, files: readonly Attachment[]) => void;
  readonly onStop: () => void;
  readonly lastQuestion: TurnView | null;
}

export function Composer({ conversationId, isBusy, onAsk, onStop, lastQuestion }: ComposerProps): VNode {
  const [text, setText] = useState(() => readKept<string>(draftKey(conversationId), ""));
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const composing = useRef(false);
  // Read from the store itself: the hook's value is for a moment that of the conversation before.
  const draft = draftFiles(conversationId);
  useStore(draft);
  const files = draft.get();
  const ready = readiness(files);
  const [isWaiting, setWaiting] = useState(false);

  useEffect(() => {
    setText(readKept<string>(draftKey(conversationId), ""));
    setWaiting(false);
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, [conversationId]);

  useEffect(
    () =>
      offered.subscribe(() => {
        const next = offered.get();
        if (next === null) return;
        offered.set(null);
        take(next);
        field.current?.focus();
      }),
    [conversationId],
  );

  // It was to be sent while a file was still on its way.
  useEffect(() => {
    if (!isWaiting || ready === "wait") return;
    setWaiting(false);
    send();
  }, [isWaiting, ready]);

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, innerHeight * 0.4)}px`;
  }, [text]);

  function change(next: string): void {
    setText(next);
    keep(draftKey(conversationId), next === "" ? null : next);
  }

  function take(offer: Offer): void {
    change(offer.text);
    if (offer.files) offerFiles(conversationId, offer.files, offer.gone);
  }

  function send(): void {
    const value = (field.current?.value ?? text).trim();
    if (value === "" || value.length > LIMIT) return;
    const attached = draftFiles(conversationId).get();
    const may = readiness(attached);
    if (may === "wait") setWaiting(true);
    if (may !== "go") return;
    change("");
    clearFiles(conversationId);
    onAsk(value, readyFiles(attached));
  }

  function press(event: KeyboardEvent): void {
    const { key, keyCode, isComposing, shiftKey, altKey } = event;
    if (mayEnterSend({ key, keyCode, isComposing, shiftKey, altKey, composing: composing.current })) {
      event.preventDefault();
      send();
    } else if (key === "ArrowUp" && text === "" && files.length === 0 && lastQuestion && !isComposing) {
      event.preventDefault();
      take({ text: lastQuestion.text, files: lastQuestion.attachments });
    }
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <DraftFileList
        conversationId={conversationId}
        files={files}
        note={ready === "blocked" ? t("attach.blocked") : isWaiting ? t("attach.waits") : null}
        onRemoved={() => field.current?.focus()}
      />
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          attachFiles(conversationId, event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="round clip"
        aria-label={t("attach.add")}
        title={t("attach.add")}
        onClick={() => chooser.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <textarea
        ref={field}
        rows={1}
        value={text}
        maxLength={LIMIT}
        placeholder={t("composer.placeholder")}
        aria-label={t("composer.label")}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={press}
        onPaste={(event) => {
          const pasted = pastedFiles(event);
          if (!pasted) return;
          event.preventDefault();
          attachFiles(conversationId, pasted);
        }}
        onCompositionStart={() => {
          composing.current = true;
        }}
        onCompositionEnd={() => {
          composing.current = false;
        }}
      />
      {isBusy && text.trim() === "" ? (
        <button type="button" class="round stop" aria-label={t("turn.stop")} onClick={onStop}>
          <Icon name="stop" />
        </button>
      ) : (
        <button
          type="submit"
          class="round primary"
          aria-label={t("composer.send")}
          disabled={text.trim() === "" || ready === "blocked"}
        >
          <Icon name="send" />
        </button>
      )}
    </form>
  );
}
