// The keyboard map: every shortcut has a modifier, so that none fires while somebody writes.

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog } from "./parts/dialog.tsx";
import { t } from "./text/text.ts";

interface Shortcuts {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
  readonly onNew: () => void;
}

const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");
const MODIFIER = isApple ? "⌘" : "Ctrl";

/** Listens on the document while the component is there. */
export function useShortcuts({ onHelp, onPalette, onNew }: Shortcuts): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(isApple ? event.metaKey : event.ctrlKey) || event.altKey || event.isComposing) return;
      const key = event.key.toLowerCase();
      if (key === "k" && !event.shiftKey) onPalette();
      else if (key === "o" && event.shiftKey) onNew();
      else if (key === "/") onHelp();
      else if (key === ".") document.querySelector<HTMLButtonElement>(".progress .stop")?.click();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }): VNode {
  const rows: readonly (readonly [string, string])[] = [
    ["Enter", t("keys.send")],
    ["Shift + Enter", t("keys.line")],
    ["↑", t("keys.edit")],
    [`${MODIFIER} + .`, t("keys.stop")],
    [`${MODIFIER} + K`, t("keys.palette")],
    [`${MODIFIER} + Shift + O`, t("keys.new")],
    [`${MODIFIER} + /`, t("keys.help")],
    ["Esc", t("keys.close")],
  ];
  return (
    <Dialog title={t("keys.title")} onClose={onClose}>
      <dl class="keys">
        {rows.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
