// Says when the connection is gone for longer than a replacement takes, and what happens next.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { browserClock } from "./browser-time.ts";
import { durationText } from "./core/duration.ts";
import { feedStatus, retryLive } from "./events/live.ts";
import { useNow } from "./parts/now.ts";
import { useStore } from "./store.ts";
import { languageNow, t } from "./text/text.ts";

/** A rollout closes streams that are back within a second or two: nobody needs to hear of those. */
const QUIET_MS = 5_000;

export function ConnectionBanner(): VNode | null {
  const status = useStore(feedStatus);
  const isLost = status.state === "lost";
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (status.state === "open" || status.state === "signedOut") {
      setShown(false);
      return;
    }
    return browserClock.after(QUIET_MS, () => setShown(true));
  }, [status.state === "open", status.state === "signedOut"]);
  const now = useNow(1_000, shown);
  if (!shown) return null;
  const inMs = Math.max(0, (status.nextTryAt ?? now) - now);
  return (
    <div class="banner" role="status">
      <span>
        {isLost && inMs > 0 ? t("connection.lost", { in: durationText(inMs, languageNow()) }) : t("connection.trying")}
      </span>
      <button type="button" class="link" onClick={retryLive}>
        {t("connection.now")}
      </button>
    </div>
  );
}
