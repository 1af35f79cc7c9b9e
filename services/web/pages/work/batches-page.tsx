// Archive batches: plan first, then start; the list with each one's progress.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Batch, BatchAccepted, BatchPlan } from "../../../core/wire/batch.ts";
import type { Page } from "../../../core/wire/parts.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { durationText, sizeText } from "../core/duration.ts";
import { WorkList } from "../parts/awaited.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { BatchView, batchName } from "./batch-view.tsx";
import { ProgressBar } from "./progress.tsx";

export default function BatchesPage({ id }: { readonly id: string | null }): VNode {
  return id === null ? <Batches /> : <BatchView key={id} id={id} />;
}

function Batches(): VNode {
  const list = useResource<Page<Batch>>("/api/batches?limit=50", { marks: ["batch", "transcription"] });
  const now = useNow(30_000);
  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.batches")}</h1>
        <p>{t("batch.goesOn")}</p>
      </header>
      <PlanForm />
      <WorkList
        list={list}
        none={t("batch.none")}
        row={(batch) => (
          <li key={batch.id} data-state={batch.state}>
            <a href={`/batches/${batch.id}`} onClick={follow}>
              {batchName(batch)}
            </a>
            <span class={`state state-${batch.state}`}>{t(`batch.${batch.state}`)}</span>
            <ProgressBar share={batch.progress} label={batchName(batch)} />
            <span class="soft">
              {t("batch.counted", { done: batch.counts.done, total: batch.total })}
              {batch.counts.failed > 0 && ` · ${t("batch.failedCount", { count: batch.counts.failed })}`} ·{" "}
              {momentText(batch.createdAt, now)}
            </span>
          </li>
        )}
      />
    </section>
  );
}

function PlanForm(): VNode {
  const [path, setPath] = useState("");
  const [language, setLanguage] = useState("");
  const [plan, setPlan] = useState<BatchPlan | null>(null);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [key, setKey] = useState("");
  const request = { kind: "transcription", path: path.trim(), ...(language === "" ? {} : { language }) };

  async function attempt(act: () => Promise<void>): Promise<void> {
    setBusy(true);
    setRefused(null);
    try {
      await act();
    } catch (error) {
      setRefused(failureText(error));
    } finally {
      setBusy(false);
    }
  }

  const look = (): Promise<void> =>
    attempt(async () => {
      setPlan(await call<BatchPlan>("/api/batches/plan", { method: "POST", body: request }));
      setKey(browserRandom.uuid());
    });
  const start = (): Promise<void> =>
    attempt(async () => {
      const made = await call<BatchAccepted>("/api/batches", { method: "POST", body: request, key });
      setPlan(null);
      go(`/batches/${made.batchId}`);
    });

  return (
    <section class="card">
      <h2>{t("batch.new")}</h2>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <label>
          {t("batch.path")}
          <input
            required
            value={path}
            placeholder="/srv/recordings"
            spellcheck={false}
            onInput={(event) => {
              setPath(event.currentTarget.value);
              setPlan(null);
            }}
          />
        </label>
        <label>
          {t("batch.language")}
          <select
            value={language}
            onChange={(event) => {
              setLanguage(event.currentTarget.value);
              setPlan(null);
            }}
          >
            <option value="">{t("batch.anyLanguage")}</option>
            <option value="ko">한국어</option>
            <option value="en">English</option>
          </select>
        </label>
        <button type="submit" disabled={busy || path.trim() === ""}>
          {t("batch.plan")}
        </button>
      </form>
      {refused && <Failure text={refused} />}
      {plan && (
        <section class="plan" aria-label={t("batch.planned")}>
          <h3>{t("batch.planned")}</h3>
          <p>
            {t("batch.recordings", { count: plan.count })} ·{" "}
            {sizeText(plan.items.reduce((sum, item) => sum + item.bytes, 0))} ·{" "}
            {t("batch.estimate", { time: durationText(plan.estimateSeconds * 1000, languageNow()) })}
            {plan.skipped.length > 0 && ` · ${t("batch.skipped", { count: plan.skipped.length })}`}
          </p>
          <details>
            <summary>{t("batch.files")}</summary>
            <ul class="files">
              {plan.items.slice(0, 200).map((item) => (
                <li key={item.path}>
                  {item.path} <span class="soft">{sizeText(item.bytes)}</span>
                </li>
              ))}
            </ul>
          </details>
          {plan.skipped.length > 0 && (
            <details>
              <summary>{t("batch.skipped", { count: plan.skipped.length })}</summary>
              <ul class="files">
                {plan.skipped.slice(0, 200).map((item) => (
                  <li key={item.path}>
                    {item.path} <span class="soft">{item.reason}</span>
                  </li>
                ))}
              </ul>
            </details>
          )}
          <p class="soft">{t("batch.nothingWritten")}</p>
          <button type="button" class="primary" disabled={busy || plan.count === 0} onClick={() => void start()}>
            {t("batch.start")}
          </button>
        </section>
      )}
    </section>
  );
}
