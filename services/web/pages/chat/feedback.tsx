// Two thumbs under an answer. A sentence may be added; its form is loaded when a thumb is first pressed.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { TurnView } from "../core/turn-view.ts";
import { failureText } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { t } from "../text/text.ts";
import { rateTurn } from "./conversation.ts";
import type { FeedbackNote } from "./feedback-note.tsx";

export function Feedback({ turn }: { readonly turn: TurnView }): VNode {
  const [Note, setNote] = useState<typeof FeedbackNote | null>(null);
  const [failed, setFailed] = useState<string | null>(null);

  function press(good: boolean): void {
    setFailed(null);
    const isBack = turn.feedback?.good === good;
    if (isBack) setNote(null);
    else {
      import("./feedback-note.tsx").then(
        (module) => setNote(() => module.FeedbackNote),
        () => undefined,
      );
    }
    rateTurn(turn, isBack ? null : { good, note: turn.feedback?.note ?? "" }).catch((error: unknown) => {
      setNote(null);
      setFailed(failureText(error));
    });
  }

  return (
    <>
      {([true, false] as const).map((good) => (
        <button
          key={String(good)}
          type="button"
          class={good ? "quiet thumb" : "quiet thumb down"}
          aria-label={t(good ? "feedback.good" : "feedback.bad")}
          title={t(good ? "feedback.good" : "feedback.bad")}
          aria-pressed={turn.feedback?.good === good}
          onClick={() => press(good)}
        >
          <Icon name="thumb" />
        </button>
      ))}
      {failed && <span class="bad">{failed}</span>}
      {Note && turn.feedback && <Note turn={turn} onDone={() => setNote(null)} />}
    </>
  );
}
