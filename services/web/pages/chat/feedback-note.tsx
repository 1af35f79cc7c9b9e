// A sentence beside a thumb, and who reads it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { TurnView } from "../core/turn-view.ts";
import { failureText } from "../parts/failure.tsx";
import { f } from "../text/feedback-words.ts";
import { t } from "../text/text.ts";
import { rateTurn } from "./conversation.ts";

export function FeedbackNote({ turn, onDone }: { readonly turn: TurnView; readonly onDone: () => void }): VNode {
  const [note, setNote] = useState(turn.feedback?.note ?? "");
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <form
      class="feedback-note"
      onSubmit={(event) => {
        event.preventDefault();
        setFailed(null);
        rateTurn(turn, { good: turn.feedback?.good ?? true, note }).then(onDone, (error: unknown) =>
          setFailed(failureText(error)),
        );
      }}
    >
      <label>
        {f("note")}
        <textarea rows={2} maxLength={2_000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <p class="soft">{f("seen")}</p>
      {failed && <p class="bad">{failed}</p>}
      <div class="actions">
        <button type="submit">{f("send")}</button>
        <button type="button" class="link" onClick={onDone}>
          {t("close")}
        </button>
      </div>
    </form>
  );
}
