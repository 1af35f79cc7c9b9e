// Where a question is written. Invariants: an Enter of an input method never sends; what is typed is kept per
// conversation in this browser until the server has accepted it.

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayEnterSend } from "../core/ime.ts";
import { keep, readKept } from "../kept.ts";
import { Icon } from "../parts/icon.tsx";
import { createStore, type Store } from "../store.ts";
import { t } from "../text/text.ts";

/** A text another part wants in the composer (edit a question, take back an unsent one). */
export const offered: Store<string | null> = createStore<string | null>(null);

const LIMIT = 100_000;
const draftKey = (conversationId: string | null): string => `draft.${conversationId ?? "new"}`;

export interface ComposerProps {
  readonly conversationId: string | null;
  readonly isBusy: boolean;
  readonly onAsk: (text: string) => void;
  readonly onStop: () => void;
  readonly lastQuestion: string | null;
}

export function Composer({ conversationId, isBusy, onAsk, onStop, lastQuestion }: ComposerProps): VNode {
  const [text, setText] = useState(() => readKept<string>(draftKey(conversationId), ""));
  const field = useRef<HTMLTextAreaElement>(null);
  const composing = useRef(false);

  useEffect(() => {
    setText(readKept<string>(draftKey(conversationId), ""));
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, [conversationId]);

  useEffect(
    () =>
      offered.subscribe(() => {
        const next = offered.get();
        if (next === null) return;
        offered.set(null);
        change(next);
        field.current?.focus();
      }),
    [conversationId],
  );

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

  function send(): void {
    const value = (field.current?.value ?? text).trim();
    if (value === "" || value.length > LIMIT) return;
    change("");
    onAsk(value);
  }

  function press(event: KeyboardEvent): void {
    const { key, keyCode, isComposing, shiftKey, altKey } = event;
    if (mayEnterSend({ key, keyCode, isComposing, shiftKey, altKey, composing: composing.current })) {
      event.preventDefault();
      send();
    } else if (key === "ArrowUp" && text === "" && lastQuestion !== null && !isComposing) {
      event.preventDefault();
      change(lastQuestion);
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
      <textarea
        ref={field}
        rows={1}
        value={text}
        maxLength={LIMIT}
        placeholder={t("composer.placeholder")}
        aria-label={t("composer.label")}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={press}
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
        <button type="submit" class="round primary" aria-label={t("composer.send")} disabled={text.trim() === ""}>
          <Icon name="send" />
        </button>
      )}
    </form>
  );
}
