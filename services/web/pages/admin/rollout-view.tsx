// A rollout as it goes on: its steps, then its ledger; and approvals, those that have ended with their steps.

import type { VNode } from "preact";
import type { Rollout, RolloutLedger } from "../../../../config/control-api.ts";
import type { Approval } from "../../../core/wire/system.ts";
import { durationText } from "../core/duration.ts";
import { useNow } from "../parts/now.ts";
import { languageNow, momentText, numberText, type TextKey, t } from "../text/text.ts";
import { CancelRollout } from "./cancel-rollout.tsx";

interface RolloutViewProps {
  readonly rollout: Rollout;
  /** What is around it has named it and told its length. */
  readonly isNamed?: boolean;
}

export function RolloutView({ rollout, isNamed = false }: RolloutViewProps): VNode {
  const now = useNow(1_000, rollout.endedAt === null);
  const language = languageNow();
  const elapsed = (rollout.endedAt ? Date.parse(rollout.endedAt) : now) - Date.parse(rollout.startedAt);
  return (
    <section class="card rollout" data-state={rollout.state}>
      {!isNamed && (
        <h2>
          {t(`rollout.${rollout.kind}`)} {rollout.id}
          <span class={`state state-${rollout.state}`}>{t(`rolloutState.${rollout.state}`)}</span>
        </h2>
      )}
      {!isNamed && (
        <p class="soft">
          {t(rollout.endedAt === null ? "rollout.elapsed" : "rollout.took", {
            elapsed: durationText(elapsed, language),
          })}
          {rollout.estimate &&
            ` · ${t("rollout.expected", { expected: durationText(rollout.estimate.expectedMs, language), worst: durationText(rollout.estimate.worstMs, language) })}`}
        </p>
      )}
      {rollout.reason && <p class={rollout.state === "failed" ? "bad reason" : "reason"}>{rollout.reason}</p>}
      {rollout.state === "running" && <CancelRollout key={rollout.id} rollout={rollout} />}
      <ol class="steps">
        {rollout.steps.map((step) => (
          <li key={step.n} data-state={step.state}>
            <span class="mark" aria-hidden="true" />
            <span class="grow">
              {stepText(step.action)} {step.instance ?? (step.service === OWN ? "" : step.service)}
            </span>
            <span class="soft">{t(`step.${step.state}`)}</span>
            <span class="soft">{step.startedAt ? durationText(step.elapsedMs, language) : ""}</span>
          </li>
        ))}
      </ol>
      {rollout.ledger && <Ledger ledger={rollout.ledger} />}
    </section>
  );
}

const ACTIONS = [
  "start",
  "ready",
  "route",
  "drain",
  "stop",
  "migrate",
  "stage",
  "preflight",
  "compare",
  "close",
  "copy",
  "migrateClosed",
  "replace",
  "confirm",
  "switch",
  "trial",
  "prune",
  "drainBack",
  "closeBack",
  "restore",
  "replaceBack",
] as const;
/** The "service" of an update's own steps: their names say all. */
const OWN = "owl";

function stepText(action: string): string {
  const known = ACTIONS.find((name) => name === action);
  return known ? t(`action.${known}`) : action;
}

const LEDGER = [
  "requestsFailed",
  "retriedAtConnect",
  "drainedInFlight",
  "longestDrainMs",
  "streamsMoved",
  "jobsFinished",
  "jobsHandedBack",
  "jobsCut",
  "jobsReclaimed",
  "instancesKilled",
] as const satisfies readonly (keyof RolloutLedger)[];

function Ledger({ ledger }: { readonly ledger: RolloutLedger }): VNode {
  return (
    <dl class="figures">
      {LEDGER.map((key) => (
        <div key={key}>
          <dt>{t(`ledger.${key}` satisfies TextKey)}</dt>
          <dd>{key === "longestDrainMs" ? durationText(ledger[key], languageNow()) : numberText(ledger[key])}</dd>
        </div>
      ))}
    </dl>
  );
}

export function ApprovalList({ approvals }: { readonly approvals: readonly Approval[] }): VNode {
  const now = useNow(60_000);
  return (
    <ul class="approvals">
      {approvals.map((item) => (
        <li key={item.id} class="card" data-state={item.state}>
          <p>
            <strong>
              {item.kind === "restart"
                ? t("approval.restart", { services: item.services?.join(", ") || t("approval.all") })
                : t(`approval.${item.kind}`, { version: item.version ?? "" })}
            </strong>{" "}
            <span class={`state state-${item.state}`}>{t(`approvalState.${item.state}`)}</span>
          </p>
          <p class="soft">{t("approval.by", { by: item.by, at: momentText(item.createdAt, now) })}</p>
          {item.message && (
            <p class={item.state === "failed" || item.state === "refused" ? "bad" : ""}>{item.message}</p>
          )}
          {item.state !== "running" && item.progress?.steps && item.progress.id && item.progress.startedAt && (
            <details>
              <summary>{t("approval.steps")}</summary>
              <RolloutView rollout={item.progress as Rollout} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}
