// A progress bar with its figure.

import type { VNode } from "preact";
import { t } from "../text/text.ts";

export function ProgressBar({ share, label }: { readonly share: number; readonly label?: string }): VNode {
  const safe = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  // Not whole until it is whole: 99.9 % is not done.
  const percent = safe >= 1 ? 100 : Math.min(99, Math.floor(safe * 100));
  return (
    <span class="progress-bar">
      <progress max={100} value={percent} aria-label={label ?? t("work.progress")} />
      <span class="percent">{percent} %</span>
    </span>
  );
}
