// A playbook's run: each step's state as it goes on, where it stopped and why, run again.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { RunAccepted, RunWithSteps, Step } from "../../../core/wire/playbook.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { durationText } from "../core/duration.ts";
import { AskedStepView } from "../parts/asked-step.tsx";
import { Awaited, BackTo } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { go } from "../routes.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { DeleteButton } from "./delete-button.tsx";
import { inputText } from "./playbooks-page.tsx";

export default function PlaybookRunPage({ id }: { readonly id: string | null }): VNode {
  const { value, failed, missing, refresh } = useResource<RunWithSteps>(
    id === null ? null : `/api/playbook-runs/${id}`,
    {
      marks: [`playbook:${id}`, `playbook_run:${id}`],
      pollMs: 2_000,
    },
  );
  const [refused, setRefused] = useState<string | null>(null);
  const [again, setAgain] = useState(false);
  const now = useNow(1_000, value?.endedAt === null);
  if (missing || id === null) return <p class="none">{t("run.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  const isLive = value.endedAt === null;

  async function runAgain(playbookId: string): Promise<void> {
    setAgain(false);
    setRefused(null);
    try {
      const made = await call<RunAccepted>(`/api/playbooks/${playbookId}/runs`, {
        method: "POST",
        key: browserRandom.uuid(),
      });
      go(`/playbook-runs/${made.runId}`);
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  return (
    <section class="page">
      <BackTo href={`/playbooks/${value.playbookId}`} name={value.name} />
      <header class="page-head">
        <h1>{value.name}</h1>
        <span class={`state state-${value.state}`}>
          {isLive && value.stopRequested ? t("turn.stopping") : t(`run.${value.state}`)}
        </span>
        <div class="actions">
          {isLive && !value.stopRequested && (
            <button
              type="button"
              onClick={() => {
                call(`/api/playbook-runs/${id}/stop`, { method: "POST" }).then(refresh, (error: unknown) =>
                  setRefused(failureText(error)),
                );
              }}
            >
              {t("turn.stop")}
            </button>
          )}
          {!isLive && (
            <button type="button" class={value.state === "done" ? "" : "primary"} onClick={() => setAgain(true)}>
              {t("run.again")}
            </button>
          )}
          {!isLive && (
            <DeleteButton
              path={`/api/playbook-runs/${id}`}
              title={t("playbook.deleteTitle", { name: value.name })}
              text={t("run.deleteText")}
              back={`/playbooks/${value.playbookId}`}
              onRefused={setRefused}
            />
          )}
        </div>
        <p>{isLive ? t("run.goesOn") : momentText(value.endedAt ?? value.createdAt, now)}</p>
      </header>
      {refused && <Failure text={refused} />}
      {failed && <Failure text={failed} onRetry={refresh} />}
      {value.waitsFor.map((step) => (
        <AskedStepView key={step.n} path={`/api/playbook-runs/${id}`} step={step} onAnswered={refresh} />
      ))}
      {(value.message || value.stoppedAtStep) && value.state !== "done" && (
        <Failure
          text={[value.stoppedAtStep ? t("run.stoppedAt", { step: value.stoppedAtStep }) : "", value.message ?? ""]
            .filter(Boolean)
            .join(" ")}
        />
      )}
      <ol class="steps run">
        {value.steps?.map((step) => (
          <RunStep key={step.id} step={step} now={now} />
        ))}
      </ol>
      {again && (
        <Confirm
          title={t("playbook.runTitle", { name: value.name })}
          text={value.steps?.some((step) => step.state === "unknown") ? t("run.againUnknown") : t("playbook.runText")}
          action={t("run.again")}
          onClose={() => setAgain(false)}
          onConfirm={() => void runAgain(value.playbookId)}
        />
      )}
    </section>
  );
}

function RunStep({ step, now }: { readonly step: Step; readonly now: number }): VNode {
  const endedAt = step.endedAt ? Date.parse(step.endedAt) : now;
  const showsTime = step.startedAt !== null && (step.state === "started" || step.endedAt !== null);
  return (
    <li data-state={step.state}>
      <span class="mark" aria-hidden="true" />
      <details class="grow" open={step.state === "failed" || step.state === "unknown"}>
        <summary>
          <strong>{step.id}</strong> <span class="soft">{t(`tool.${step.tool}` as "tool.sql")}</span>{" "}
          <span class={step.state === "failed" || step.state === "unknown" ? "bad" : "soft"}>
            {t(`runStep.${step.state}`)}
            {showsTime && ` · ${durationText(endedAt - Date.parse(step.startedAt ?? ""), languageNow())}`}
          </span>
        </summary>
        {step.message && <p class="bad">{step.message}</p>}
        {step.state === "unknown" && <p class="bad">{t("run.unknownText")}</p>}
        <pre>{inputText((step.input ?? {}) as Readonly<Record<string, unknown>>)}</pre>
        {step.output !== null && <pre class="output">{JSON.stringify(step.output, null, 2)}</pre>}
      </details>
    </li>
  );
}
