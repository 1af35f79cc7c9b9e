// Heads as flat lists of names and values, as Node's own parser gives and takes them.

import { type HeadView, valueAt } from "../../../../supervisor/proxy/core/head-view.ts";

/** A view of a flat list (name, value, ...), for those who have no text. */
export function viewOf(flat: readonly string[]): HeadView {
  let text = "";
  const spans: number[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = flat[at] ?? "";
    const value = flat[at + 1] ?? "";
    spans.push(text.length, text.length + name.length);
    text += `${name}: `;
    spans.push(text.length, text.length + value.length);
    text += `${value}\r\n`;
  }
  return { text, spans };
}

/** The headers that are not in `dropped` (indexes, ascending). */
export function keptFlat(view: HeadView, dropped: readonly number[]): string[] {
  const out: string[] = [];
  let next = 0;
  for (let index = 0; index < view.spans.length / 4; index++) {
    if (dropped[next] === index) {
      next++;
      continue;
    }
    out.push(view.text.substring(view.spans[index * 4] ?? 0, view.spans[index * 4 + 1]), valueAt(view, index));
  }
  return out;
}
