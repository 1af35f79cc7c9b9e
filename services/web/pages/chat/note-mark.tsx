// The mark of a footnote in a text: leads to the note itself.

import type { VNode } from "preact";
import { t } from "../text/text.ts";

/** The id of a note's own place. */
export const noteId = (name: string, label: string): string => `note-${name}-${label}`;

export function NoteMark({ name, label }: { readonly name: string; readonly label: string }): VNode {
  function show(): void {
    const note = document.getElementById(noteId(name, label));
    note?.scrollIntoView({ block: "nearest" });
    note?.focus({ preventScroll: true });
  }
  return (
    <sup>
      <button type="button" class="note-mark" aria-label={t("note.see", { label })} onClick={show}>
        {label}
      </button>
    </sup>
  );
}
