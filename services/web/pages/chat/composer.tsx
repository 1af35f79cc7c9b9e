// Where a question is written. Invariants: an Enter of an input method never sends; what is typed and attached is kept
// per conversation in this browser until the server has accepted it; a question never goes without a file beside it.

import type { TargetedClipboardEvent, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Attachment } from "../../../core/wire/turn.ts";
import type { Keys, PromptList } from "../assistants/prompt-list.tsx";
import { readiness, readyFiles } from "../core/attached.ts";
import { mayEnterSend } from "../core/ime.ts";
import { commandOf } from "../core/prompt.ts";
import { isTooLong, QUESTION_LIMIT, questionOf } from "../core/question.ts";
import type { TurnView } from "../core/turn-view.ts";
import { Icon } from "../parts/icon.tsx";
import { useStore } from "../store.ts";
import { t } from "../text/text.ts";
import { DraftFileList } from "./attached-files.tsx";
import { ComposerNotes } from "./composer-notes.tsx";
import { useDraft } from "./draft.ts";
import { attachFiles, clearFiles, draftFiles } from "./draft-files.ts";
import { pastedFiles } from "./file-drop.ts";

/** A touch keyboard has no Shift at hand: there Enter is a new line, and the button sends. */
export const isTouch = (): boolean => globalThis.matchMedia?.("(hover: none) and (pointer: coarse)").matches ?? false;

interface ComposerProps {
  readonly conversationId: string | null;
  /** Why an image would not be looked at; null: it would be. */
  readonly unseen: string | null;
  readonly isBusy: boolean;
  readonly onAsk: (text: string, files: readonly Attachment[], versionOf: string | null) => void;
  readonly onStop: () => void;
  readonly lastQuestion: TurnView | null;
}

/** What keeps a question with files from going. */
const NOTES: { readonly [Ready in ReturnType<typeof readiness>]?: (unseen: string | null) => string | null } = {
  blocked: () => t("attach.blocked"),
  unseen: (unseen) => unseen,
};

export function Composer({ conversationId, unseen, isBusy, onAsk, onStop, lastQuestion }: ComposerProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const composing = useRef(false);
  const { text, versionOf, change, leaveVersion, take, bringBack } = useDraft(conversationId, field);
  // Read from the store itself: the hook's value is for a moment that of the conversation before.
  const draft = draftFiles(conversationId);
  useStore(draft);
  const files = draft.get();
  const ready = readiness(files, unseen === null);
  const [isWaiting, setWaiting] = useState(false);
  /** A pasted text that finds no room, until it is decided what becomes of it. */
  const [homeless, setHomeless] = useState<string | null>(null);

  const command = commandOf(text);
  const commandKeys = useRef<Keys | null>(null);
  const Prompts = usePrompts(command !== null);

  useEffect(() => {
    setHomeless(null);
    setWaiting(false);
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, [conversationId]);

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

  function send(): void {
    const value = questionOf(field.current?.value ?? text);
    if (value === "" || value.length > QUESTION_LIMIT) return;
    const attached = draftFiles(conversationId).get();
    const may = readiness(attached, unseen === null);
    if (may === "wait") setWaiting(true);
    if (may !== "go") return;
    change("");
    leaveVersion();
    clearFiles(conversationId);
    onAsk(value, readyFiles(attached), versionOf);
  }

  /** A text too long for the question goes beside it. */
  function attachText(words: string): void {
    attachFiles(conversationId, [new File([words], t("composer.pastedName"), { type: "text/plain" })]);
    if (homeless === null) change("");
    setHomeless(null);
    field.current?.focus();
  }

  function paste(event: TargetedClipboardEvent<HTMLTextAreaElement>): void {
    const pasted = pastedFiles(event);
    if (pasted) {
      event.preventDefault();
      attachFiles(conversationId, pasted);
      return;
    }
    const words = event.clipboardData?.getData("text/plain") ?? "";
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    if (!isTooLong(value.length, selectionEnd - selectionStart, words.length)) return;
    event.preventDefault();
    setHomeless(words);
  }

  function press(event: KeyboardEvent): void {
    if (commandKeys.current?.(event)) return;
    const { key, keyCode, isComposing, shiftKey, altKey } = event;
    if (mayEnterSend({ key, keyCode, isComposing, shiftKey, altKey, composing: composing.current }, isTouch())) {
      event.preventDefault();
      send();
    } else if (key === "ArrowUp" && text === "" && files.length === 0 && lastQuestion && !isComposing) {
      event.preventDefault();
      take({ text: lastQuestion.text, files: lastQuestion.attachments, versionOf: lastQuestion.id });
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
        note={NOTES[ready]?.(unseen) ?? (isWaiting ? t("attach.waits") : null)}
        onRemoved={() => field.current?.focus()}
      />
      <ComposerNotes
        tooLong={homeless !== null ? { pasted: homeless } : text.length > QUESTION_LIMIT ? { written: text } : null}
        onAttach={attachText}
        onLeave={() => setHomeless(null)}
        onBringBack={bringBack}
        onLeaveVersion={versionOf === null ? null : leaveVersion}
      />
      {Prompts !== null && command !== null && (
        <Prompts typed={command} field={field} keys={commandKeys} onTake={change} />
      )}
      <FileChooser onFiles={(chosen) => attachFiles(conversationId, chosen)} />
      <textarea
        ref={field}
        rows={1}
        value={text}
        enterkeyhint={isTouch() ? "enter" : "send"}
        placeholder={t("composer.placeholder")}
        aria-label={t("composer.label")}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={press}
        onPaste={paste}
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
          disabled={
            questionOf(text) === "" || text.length > QUESTION_LIMIT || ready === "blocked" || ready === "unseen"
          }
        >
          <Icon name="send" />
        </button>
      )}
    </form>
  );
}

/** The list behind a slash, once the first one was typed. */
function usePrompts(isCommand: boolean): typeof PromptList | null {
  const [Prompts, setPrompts] = useState<typeof PromptList | null>(null);
  useEffect(() => {
    if (!isCommand || Prompts !== null) return;
    import("../assistants/prompt-list.tsx").then(
      (module) => setPrompts(() => module.PromptList),
      () => undefined,
    );
  }, [isCommand]);
  return Prompts;
}

function FileChooser({ onFiles }: { readonly onFiles: (files: FileList | readonly File[]) => void }): VNode {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(event.currentTarget.files ?? []);
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
    </>
  );
}
