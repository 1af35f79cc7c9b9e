// Cancelling the rollout that runs: asked first, then written as a wish that the supervisor executes.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Rollout } from "../../../../config/control-api.ts";
import { ApiError, call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { t } from "../text/text.ts";

export function CancelRollout({ rollout }: { readonly rollout: Rollout }): VNode {
  const [asking, setAsking] = useState(false);
  const [sent, setSent] = useState<"not" | "sending" | "asked">("not");
  const [refused, setRefused] = useState<string | null>(null);
  // One wish, however often the button is pressed.
  const [key] = useState(() => browserRandom.uuid());

  async function cancel(): Promise<void> {
    setAsking(false);
    setRefused(null);
    setSent("sending");
    try {
      await call(`/api/admin/rollouts/${rollout.id}/cancel`, { method: "POST", key });
      setSent("asked");
    } catch (error) {
      const code = error instanceof ApiError ? error.code : "";
      setSent(code === "cancel.open" ? "asked" : "not");
      if (code === "rollout.ended") setRefused(t("cancel.ended", { id: rollout.id }));
      else if (code !== "cancel.open") setRefused(failureText(error));
    }
  }

  if (rollout.cancelling) return <p class="soft">{t("cancel.underWay")}</p>;
  return (
    <>
      {refused && <Failure text={refused} />}
      {sent === "asked" ? (
        <p class="soft" role="status">
          {t("cancel.asked")}
        </p>
      ) : (
        <button type="button" disabled={sent === "sending"} onClick={() => setAsking(true)}>
          {t("cancel.rollout")}
        </button>
      )}
      {asking && (
        <Confirm
          title={t("cancel.title", { id: rollout.id })}
          text={t(rollout.kind === "restart" ? "cancel.restart" : "cancel.update")}
          action={t("cancel.do")}
          keep={t("cancel.keep")}
          danger
          onClose={() => setAsking(false)}
          onConfirm={() => void cancel()}
        />
      )}
    </>
  );
}
