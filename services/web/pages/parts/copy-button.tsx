// A button that copies a text and says so.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { browserClock } from "../browser-time.ts";
import { t } from "../text/text.ts";

/** True when it is in the clipboard; plain-http origins have no clipboard API and use a selected field instead. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "off-screen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

interface CopyProps {
  /** The text, or what makes it once it is asked for. */
  readonly text: string | (() => string);
  readonly label?: string;
}

export function CopyButton({ text, label }: CopyProps): VNode {
  const [copied, setCopied] = useState(false);
  async function run(): Promise<void> {
    if (!(await copy(typeof text === "string" ? text : text()))) return;
    setCopied(true);
    browserClock.after(1_500, () => setCopied(false));
  }
  return (
    <button type="button" class="link copy" onClick={() => void run()}>
      <span aria-live="polite">{copied ? t("copied") : (label ?? t("copy"))}</span>
    </button>
  );
}
