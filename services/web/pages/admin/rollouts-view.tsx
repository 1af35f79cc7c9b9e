// What was changed here: the rollout that runs, then the past ones, each opened for its steps and its ledger.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Rollout } from "../../../../config/control-api.ts";
import type { PastRollout, PastRollouts, System } from "../../../core/wire/system.ts";
import { call } from "../api.ts";
import { durationText } from "../core/duration.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { RolloutView } from "./rollout-view.tsx";

export function RolloutsView(): VNode {
  const { value, failed } = useResource<PastRollouts>("/api/admin/rollouts", { pollMs: 3_000 });
  const { value: system } = useResource<System>("/api/admin/system", { pollMs: 2_000 });
  const now = useNow(60_000);
  if (!value) return <Awaited failed={failed} />;
  const running = system?.status?.rollout ?? null;
  return (
    <>
      {failed && <Failure text={failed} />}
      {running?.state === "running" && <RolloutView rollout={running} />}
      <h2>{t("rollouts.past")}</h2>
      {value.items.length === 0 && <p class="soft">{t("rollouts.none")}</p>}
      <ul class="approvals">
        {value.items.map((item) => (
          <li key={`${item.id} ${item.startedAt}`} class="card" data-rollout={item.id}>
            <Past item={item} now={now} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Past({ item, now }: { readonly item: PastRollout; readonly now: number }): VNode {
  const [open, setOpen] = useState(false);
  const [reason] = item.reason?.split("\n") ?? [];
  const tookMs = Date.parse(item.endedAt ?? item.startedAt) - Date.parse(item.startedAt);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>
          {t(`rollout.${item.kind}`)} {item.id}
        </strong>{" "}
        <span class={`state state-${item.state}`}>{t(`rolloutState.${item.state}`)}</span>
        <span class="soft">
          {item.askedBy === undefined
            ? t("rollouts.byOperator", { at: momentText(item.startedAt, now) })
            : t("approval.by", { by: item.askedBy, at: momentText(item.startedAt, now) })}
          {` · ${t("rollout.took", { elapsed: durationText(tookMs, languageNow()) })}`}
        </span>
        {reason && !open && <span class={item.state === "failed" ? "bad" : "soft"}>{reason}</span>}
      </summary>
      {item.cancels.map((wish) => (
        <p key={wish.by} class="soft">
          {t(wish.state === "refused" ? "cancel.tooLate" : "cancel.by", { by: wish.by })}
        </p>
      ))}
      {open && <Whole id={item.id} />}
    </details>
  );
}

/** Its steps and ledger, read when it is opened: they change no more. */
function Whole({ id }: { readonly id: string }): VNode {
  const [whole, setWhole] = useState<Rollout | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    call<Rollout>(`/api/admin/rollouts/${id}`, { signal: stop.signal }).then(setWhole, (error: unknown) => {
      if (!stop.signal.aborted) setFailed(failureText(error));
    });
    return () => stop.abort();
  }, [id]);
  if (failed) return <Failure text={failed} />;
  return whole ? <RolloutView rollout={whole} isNamed /> : <p class="loading">{t("loading")}</p>;
}
