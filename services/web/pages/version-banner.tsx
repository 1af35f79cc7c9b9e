// Says once that the server serves newer pages than this tab is of. Invariant: nothing here asks the server or reloads by
// itself; what it knows came with the event stream, and what is being written stays as a draft.

import type { VNode } from "preact";
import { ownBuild } from "./build-header.ts";
import { feedStatus } from "./events/live.ts";
import { useStore } from "./store.ts";
import { t } from "./text/text.ts";

export function VersionBanner(): VNode | null {
  const { build } = useStore(feedStatus);
  // While instances are being replaced the next stream may come from an old one again: then the two fit, and it goes.
  if (build === null || build === ownBuild()) return null;
  return (
    <div class="banner" role="status">
      <span>{t("version.new")}</span>
      <button type="button" class="link" onClick={() => location.reload()}>
        {t("version.reload")}
      </button>
    </div>
  );
}
