// What the writer of a question should know of the draft, with the way on.

import type { VNode } from "preact";
import { QUESTION_LIMIT } from "../core/question.ts";
import { numberText, t } from "../text/text.ts";

interface NotesProps {
  readonly tooLong: { readonly pasted: string } | { readonly written: string } | null;
  readonly onAttach: (text: string) => void;
  readonly onLeave: () => void;
  readonly onBringBack: (() => void) | null;
  /** The draft is another version of an earlier question. */
  readonly onLeaveVersion: (() => void) | null;
}

export function ComposerNotes(props: NotesProps): VNode | null {
  const { tooLong, onAttach, onLeave, onBringBack, onLeaveVersion } = props;
  if (tooLong === null && onBringBack === null && onLeaveVersion === null) return null;
  const most = numberText(QUESTION_LIMIT);
  return (
    <div class="composer-notes" role="status">
      {tooLong !== null && (
        <p>
          {"pasted" in tooLong
            ? t("composer.pastedLong", { count: tooLong.pasted.length, most })
            : t("composer.tooLong", { count: tooLong.written.length, most })}{" "}
          <button
            type="button"
            class="link"
            onClick={() => onAttach("pasted" in tooLong ? tooLong.pasted : tooLong.written)}
          >
            {t("composer.attachInstead")}
          </button>
          {"pasted" in tooLong && (
            <button type="button" class="link" onClick={onLeave}>
              {t("composer.leaveOut")}
            </button>
          )}
        </p>
      )}
      {onLeaveVersion !== null && (
        <p>
          {t("version.writing")}{" "}
          <button type="button" class="link" onClick={onLeaveVersion}>
            {t("version.leave")}
          </button>
        </p>
      )}
      {onBringBack !== null && (
        <p>
          {t("composer.aside")}{" "}
          <button type="button" class="link" onClick={onBringBack}>
            {t("composer.bringBack")}
          </button>
        </p>
      )}
    </div>
  );
}
