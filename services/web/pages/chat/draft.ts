// The text of the question that is being written. Invariants: it is kept per conversation in this browser; another text
// that takes its place puts it aside, and one press brings it back.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Attachment } from "../../../core/wire/turn.ts";
import { readyFiles } from "../core/attached.ts";
import { keep, readKept } from "../kept.ts";
import { createStore, type Store } from "../store.ts";
import { draftFiles, offerFiles } from "./draft-files.ts";

/** A question another part wants in the composer (one to edit, an unsent one taken back); no `files`: they stay. */
interface Offer {
  readonly text: string;
  readonly files?: readonly Attachment[];
  readonly gone?: readonly string[];
  /** The turn it is to be another version of. */
  readonly versionOf?: string | null;
}

export const offered: Store<Offer | null> = createStore<Offer | null>(null);

const asideKey = (conversationId: string | null): string => `aside.${conversationId ?? "new"}`;
const versionKey = (conversationId: string | null): string => `version.${conversationId ?? "new"}`;
const draftKey = (conversationId: string | null): string => `draft.${conversationId ?? "new"}`;

interface Draft {
  readonly text: string;
  /** The turn it is another version of. */
  readonly versionOf: string | null;
  change(next: string): void;
  /** It is a new question after all, or was sent. */
  leaveVersion(): void;
  /** Another text takes the draft's place. */
  take(offer: Offer): void;
  /** Puts what was put aside in the draft's place; null: nothing was. */
  readonly bringBack: (() => void) | null;
}

export function useDraft(conversationId: string | null, field: RefObject<HTMLTextAreaElement | null>): Draft {
  const [text, setText] = useState(() => readKept<string>(draftKey(conversationId), ""));
  const [aside, setAside] = useState(() => readKept<Offer | null>(asideKey(conversationId), null));
  const [versionOf, setVersionOf] = useState(() => readKept<string | null>(versionKey(conversationId), null));

  useEffect(() => {
    setText(readKept<string>(draftKey(conversationId), ""));
    setAside(readKept<Offer | null>(asideKey(conversationId), null));
    setVersionOf(readKept<string | null>(versionKey(conversationId), null));
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

  function change(next: string): void {
    setText(next);
    keep(draftKey(conversationId), next === "" ? null : next);
  }

  function changeVersion(next: string | null): void {
    setVersionOf(next);
    keep(versionKey(conversationId), next);
  }

  function putAside(next: Offer | null): void {
    setAside(next);
    keep(asideKey(conversationId), next);
  }

  function take(offer: Offer): void {
    const written = field.current?.value ?? text;
    const attached = readyFiles(draftFiles(conversationId).get());
    const isOther = written.trim() !== "" && written !== offer.text;
    if (isOther || (offer.files && attached.length > 0)) {
      putAside({ text: written, versionOf, ...(offer.files ? { files: attached } : {}) });
    }
    change(offer.text);
    changeVersion(offer.versionOf ?? null);
    if (offer.files) offerFiles(conversationId, offer.files, offer.gone);
  }

  function bringBack(): void {
    if (aside === null) return;
    putAside(null);
    take(aside);
    field.current?.focus();
  }

  return {
    text,
    versionOf,
    change,
    leaveVersion: () => changeVersion(null),
    take,
    bringBack: aside === null ? null : bringBack,
  };
}
