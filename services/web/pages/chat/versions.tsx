// Which version of a turn is shown, and the way to the others. What is chosen holds on every device.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { TurnView } from "../core/turn-view.ts";
import { failureText } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { numberText, t } from "../text/text.ts";
import { showVersion } from "./conversation.ts";

export function Versions({ turn }: { readonly turn: TurnView }): VNode | null {
  const [failed, setFailed] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { versions } = turn;
  const index = versions.indexOf(turn.id);
  if (index < 0) return null;

  function show(id: string | undefined): void {
    if (id === undefined || isBusy) return;
    setFailed(null);
    setBusy(true);
    showVersion(turn.conversationId, id)
      // The buttons that were pressed are gone with their turn.
      .then(() => document.querySelector<HTMLElement>(`[data-turn="${id}"] .versions button:enabled`)?.focus())
      .catch((error: unknown) => setFailed(failureText(error)))
      .finally(() => setBusy(false));
  }

  const [n, of] = [numberText(index + 1), numberText(versions.length)];
  return (
    <span class="versions">
      <button
        type="button"
        class="quiet"
        aria-label={t("version.before")}
        title={t("version.before")}
        disabled={index === 0}
        onClick={() => show(versions[index - 1])}
      >
        <Icon name="before" />
      </button>
      <span role="status" aria-label={t("version.which", { n, of })}>
        {n}/{of}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={t("version.after")}
        title={t("version.after")}
        disabled={index === versions.length - 1}
        onClick={() => show(versions[index + 1])}
      >
        <Icon name="after" />
      </button>
      {failed && <span class="bad">{failed}</span>}
    </span>
  );
}
