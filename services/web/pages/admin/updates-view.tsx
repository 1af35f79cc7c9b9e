// Releases offered, their impact before approval, and how approved ones go on.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Offer, System, Updates } from "../../../core/wire/system.ts";
import { durationText } from "../core/duration.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Failure } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { ApprovalDialog } from "./approval-dialog.tsx";
import { RollbackList } from "./rollback-view.tsx";
import { ApprovalList, RolloutView } from "./rollout-view.tsx";
import { runningRollout } from "./system.ts";

export function UpdatesView(): VNode {
  const { value, failed, refresh } = useResource<Updates>("/api/admin/update", { pollMs: 2_000 });
  const { value: system } = useResource<System>("/api/admin/system", { pollMs: 2_000 });
  const [chosen, setChosen] = useState<Offer | null>(null);
  const now = useNow(60_000);
  if (!value) return <Awaited failed={failed} />;
  const isBusy = value.approvals.some((item) => item.state === "waiting" || item.state === "running");
  const running = runningRollout(system?.status, value.approvals);
  return (
    <>
      {failed && <Failure text={failed} />}
      <h2>{t("update.offered")}</h2>
      <p class="soft">{t("update.running", { version: value.release })}</p>
      {value.offers.length === 0 && (
        <div class="card">
          <p>{t("update.none")}</p>
          <p class="soft">{t("update.howTo")}</p>
          <pre>owlctl update --stage ARCHIVE</pre>
        </div>
      )}
      <ul class="approvals">
        {value.offers.map((offer) => (
          <li key={offer.version} class="card">
            <p>
              <strong>{offer.version}</strong>
              <span class="soft"> {t("update.offeredAt", { at: momentText(offer.offeredAt, now) })}</span>
            </p>
            <button type="button" class="primary" disabled={isBusy} onClick={() => setChosen(offer)}>
              {t("update.look")}
            </button>
          </li>
        ))}
      </ul>
      {running && <RolloutView key={running.id} rollout={running} />}
      <RollbackList rollbacks={value.rollbacks ?? []} isBusy={isBusy || running !== null} onApproved={refresh} />
      <h2>{t("update.history")}</h2>
      {value.approvals.length === 0 ? (
        <p class="soft">{t("update.noHistory")}</p>
      ) : (
        <ApprovalList approvals={value.approvals} />
      )}
      {chosen && (
        <ApproveDialog
          offer={chosen}
          onClose={() => setChosen(null)}
          onApproved={() => {
            setChosen(null);
            refresh();
          }}
        />
      )}
    </>
  );
}

interface ApproveProps {
  readonly offer: Offer;
  readonly onClose: () => void;
  readonly onApproved: () => void;
}

function ApproveDialog({ offer, onClose, onApproved }: ApproveProps): VNode {
  return (
    <ApprovalDialog
      title={t("update.title", { version: offer.version })}
      path="/api/admin/update/approve"
      version={offer.version}
      approve={t("update.approve")}
      onClose={onClose}
      onApproved={onApproved}
    >
      <h3>{t("update.impact")}</h3>
      <ul class="impact">
        {impactOf(offer).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </ApprovalDialog>
  );
}

/** What the manifest and the plan say of the time while it is applied, in sentences. */
function impactOf({ manifest, notes, plan }: Offer): readonly string[] {
  const language = languageNow();
  const lines: string[] = [];
  const own = (manifest.notes as Readonly<Record<string, unknown>> | undefined)?.[language];
  if (Array.isArray(own)) lines.push(...own.map(String));
  else if (notes !== "") lines.push(...notes.split("\n").filter(Boolean));
  const ms = (key: string): number => (typeof plan[key] === "number" ? (plan[key] as number) : 0);
  if (plan.verdict === "refused") lines.push(`${String(plan.reason ?? "")} ${String(plan.next ?? "")}`.trim());
  if (plan.workers === "overlap") lines.push(t("impact.overlap"));
  if (plan.workers === "drainFirst")
    lines.push(t("impact.drainFirst", { time: durationText(ms("worstWithoutWorkersMs"), language) }));
  if (plan.verdict === "planned") {
    lines.push(
      ms("worstDowntimeMs") > 0
        ? t("impact.downtime", { time: durationText(ms("worstDowntimeMs"), language) })
        : t("impact.noDowntime"),
    );
    const pending = Array.isArray(plan.pending) ? plan.pending.length : 0;
    if (pending > 0)
      lines.push(t(plan.schema === "incompatible" ? "impact.incompatible" : "impact.compatible", { count: pending }));
    const back = (plan.way as { back?: unknown } | undefined)?.back;
    lines.push(back === "restoreCopy" ? t("impact.backCopy") : t("impact.backCode"));
  }
  return lines.length > 0 ? lines : [t("impact.unknown")];
}
