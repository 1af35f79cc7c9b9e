// Going back to a release that ran here: what it costs is shown first, above all what would be lost.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Rollback } from "../../../core/wire/system.ts";
import { durationText } from "../core/duration.ts";
import { Failure } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { ApprovalDialog } from "./approval-dialog.tsx";

interface RollbackListProps {
  readonly rollbacks: readonly Rollback[];
  readonly isBusy: boolean;
  readonly onApproved: () => void;
}

export function RollbackList({ rollbacks, isBusy, onApproved }: RollbackListProps): VNode | null {
  const [chosen, setChosen] = useState<string | null>(null);
  if (rollbacks.length === 0) return null;
  // As counted last, also while the dialog is open.
  const offer = rollbacks.find(({ version }) => version === chosen);
  return (
    <>
      <h2>{t("rollback.list")}</h2>
      <ul class="approvals">
        {rollbacks.map(({ version, plan }) => (
          <li key={version} class="card">
            <p>
              <strong>{version}</strong>
            </p>
            {plan.verdict === "refused" ? (
              <p class="soft">{`${plan.reason} ${plan.next}`.trim()}</p>
            ) : (
              <button type="button" disabled={isBusy} onClick={() => setChosen(version)}>
                {t("rollback.look")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {offer && (
        <RollbackDialog
          offer={offer}
          onClose={() => setChosen(null)}
          onApproved={() => {
            setChosen(null);
            onApproved();
          }}
        />
      )}
    </>
  );
}

interface DialogProps {
  readonly offer: Rollback;
  readonly onClose: () => void;
  readonly onApproved: () => void;
}

function RollbackDialog({ offer, onClose, onApproved }: DialogProps): VNode {
  const now = useNow(1_000);
  const { version, plan } = offer;
  return (
    <ApprovalDialog
      title={t("rollback.title", { version })}
      path="/api/admin/rollback/approve"
      version={version}
      approve={t("rollback.approve")}
      isDangerous={plan.verdict === "planned" && plan.restores}
      isRefused={plan.verdict === "refused"}
      onClose={onClose}
      onApproved={onApproved}
    >
      <h3>{t("rollback.cost")}</h3>
      {plan.verdict === "planned" ? <Cost plan={plan} /> : <Failure text={`${plan.reason} ${plan.next}`.trim()} />}
      <p class="soft">{t("admin.asOf", { age: durationText(now - Date.parse(offer.at), languageNow()) })}</p>
    </ApprovalDialog>
  );
}

type Planned = Extract<Rollback["plan"], { readonly verdict: "planned" }>;

function Cost({ plan }: { readonly plan: Planned }): VNode {
  const now = useNow(60_000);
  const { lost, newerJobs } = plan;
  const moment = (at: string | null): string => (at === null ? "–" : momentText(at, now));
  if (!plan.restores)
    return (
      <ul class="impact">
        <li>{t("rollback.codeOnly")}</li>
        <li>{t("impact.noDowntime")}</li>
        {newerJobs > 0 && <li>{t("rollback.newerJobs", { count: newerJobs })}</li>}
      </ul>
    );
  return (
    <ul class="impact">
      <li>{t("rollback.restores")}</li>
      <li class={lost !== null && lost.count > 0 ? "bad" : undefined}>
        {lost === null || lost.count === 0
          ? t("rollback.nothingLost")
          : t("rollback.lost", { count: lost.count, from: moment(lost.firstAt), to: moment(lost.lastAt) })}
      </li>
      <li>{t("impact.downtime", { time: durationText(plan.closedMs, languageNow()) })}</li>
      <li>{t("rollback.after")}</li>
    </ul>
  );
}
