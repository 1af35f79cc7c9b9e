// One batch: progress, throughput, the rest as a range, its items; pause, go on, cancel, retry, the failed ones as CSV.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Batch, BatchItem } from "../../../core/wire/batch.ts";
import type { Page } from "../../../core/wire/parts.ts";
import { call } from "../api.ts";
import { csvOf } from "../core/csv.ts";
import { elapsedText, etaRange, rangeText } from "../core/duration.ts";
import { Awaited, BackTo } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { saveFile } from "../parts/save-file.ts";
import { readAll, useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { languageNow, momentText, numberText, t } from "../text/text.ts";
import { DeleteButton } from "./delete-button.tsx";
import { ProgressBar } from "./progress.tsx";

const STATES = ["all", "queued", "running", "done", "failed", "cancelled"] as const;

/** What a batch is called: the folder it was asked for. */
export function batchName({ request, total }: Batch): string {
  return request.path ?? t("batch.recordings", { count: total });
}

export function BatchView({ id }: { readonly id: string }): VNode {
  const marks = [`batch:${id}`, "transcription"];
  const { value: batch, failed, missing, refresh } = useResource<Batch>(`/api/batches/${id}`, { marks, pollMs: 3_000 });
  const [filter, setFilter] = useState<(typeof STATES)[number]>("all");
  const [refused, setRefused] = useState<string | null>(null);
  const [cancelling, setCancelling] = useState(false);
  const now = useNow(1_000, batch?.state === "running");
  const state = filter === "all" ? "" : `&state=${filter}`;
  const items = useResource<Page<BatchItem>>(`/api/batches/${id}/items?limit=100${state}`, { marks, pollMs: 5_000 });

  if (missing) return <p class="none">{t("batch.missing")}</p>;
  if (!batch) return <Awaited failed={failed} onRetry={refresh} />;

  const language = languageNow();
  const { counts } = batch;
  const eta = etaRange({
    state: batch.state,
    finished: counts.done + counts.failed,
    progress: batch.progress,
    etaSeconds: batch.etaSeconds,
  });
  const range = batch.etaRangeSeconds
    ? { fromMs: batch.etaRangeSeconds.from * 1000, toMs: batch.etaRangeSeconds.to * 1000 }
    : eta;
  const isLive = batch.state === "running" || batch.state === "paused";

  function act(verb: "pause" | "resume" | "cancel" | "retry"): void {
    setRefused(null);
    call(`/api/batches/${id}/${verb}`, { method: "POST" }).then(
      () => {
        refresh();
        items.refresh();
      },
      (error: unknown) => setRefused(failureText(error)),
    );
  }

  async function saveFailed(): Promise<void> {
    try {
      const rows = await readAll<BatchItem>(`/api/batches/${id}/items?state=failed`);
      saveFile(
        "failed.csv",
        csvOf([["path", "message"], ...rows.map((row) => [row.path, row.message ?? ""])]),
        "text/csv",
      );
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  return (
    <section class="page">
      <BackTo href="/batches" name={t("nav.batches")} />
      <header class="page-head">
        <h1>{batchName(batch)}</h1>
        <span class={`state state-${batch.state}`}>{t(`batch.${batch.state}`)}</span>
        <p>{isLive ? t("batch.goesOn") : momentText(batch.endedAt ?? batch.createdAt, now)}</p>
      </header>
      {refused && <Failure text={refused} />}
      {failed && <Failure text={failed} onRetry={refresh} />}
      <div class="card">
        <ProgressBar share={batch.progress} />
        <dl class="figures">
          {(["done", "running", "queued", "failed", "cancelled"] as const).map((name) => (
            <div key={name}>
              <dt>{t(`work.${name}`)}</dt>
              <dd class={name === "failed" && counts.failed > 0 ? "bad" : ""}>{numberText(counts[name])}</dd>
            </div>
          ))}
          {batch.throughput !== null && (
            <div>
              <dt>{t("batch.throughput")}</dt>
              <dd>{t("batch.perMinute", { count: numberText(batch.throughput * 60) })}</dd>
            </div>
          )}
          {batch.state === "running" && (
            <div>
              <dt>{t("batch.eta")}</dt>
              <dd>{range ? rangeText(range.fromMs, range.toMs, language) : t("batch.etaSoon")}</dd>
            </div>
          )}
        </dl>
        {batch.state === "running" && batch.movedAt && (
          <p class="soft">{t("work.moved", { age: elapsedText(now - Date.parse(batch.movedAt), language) })}</p>
        )}
        <div class="actions">
          {batch.state === "running" && (
            <button type="button" onClick={() => act("pause")}>
              {t("batch.pause")}
            </button>
          )}
          {batch.state === "paused" && (
            <button type="button" class="primary" onClick={() => act("resume")}>
              {t("batch.resume")}
            </button>
          )}
          {counts.failed + counts.cancelled > 0 && batch.state !== "running" && (
            <button type="button" onClick={() => act("retry")}>
              {t("batch.retry")}
            </button>
          )}
          {counts.failed > 0 && (
            <button type="button" onClick={() => void saveFailed()}>
              {t("batch.failedCsv")}
            </button>
          )}
          {isLive ? (
            <button type="button" class="danger" onClick={() => setCancelling(true)}>
              {t("batch.cancel")}
            </button>
          ) : (
            <DeleteButton
              path={`/api/batches/${id}`}
              title={t("playbook.deleteTitle", { name: batchName(batch) })}
              text={t("batch.deleteText")}
              back="/batches"
              onRefused={setRefused}
            />
          )}
        </div>
      </div>
      <fieldset class="tabs" aria-label={t("batch.filter")}>
        {STATES.map((name) => (
          <button key={name} type="button" aria-pressed={filter === name} onClick={() => setFilter(name)}>
            {name === "all" ? t("batch.all") : t(`work.${name}`)}
          </button>
        ))}
      </fieldset>
      {items.failed && <Failure text={items.failed} onRetry={items.refresh} />}
      <ul class="work-list">
        {items.value?.items.map((item) => (
          <li key={item.id} data-state={item.state}>
            <a href={`/recordings/${item.id}`} onClick={follow}>
              {item.name}
            </a>
            <span class={`state state-${item.state}`}>{t(`work.${item.state}`)}</span>
            {item.state === "running" && item.secondsTotal !== null && (
              <ProgressBar share={item.secondsDone / item.secondsTotal} label={item.name} />
            )}
            {item.message && <p class="bad">{item.message}</p>}
          </li>
        ))}
      </ul>
      {items.value && items.value.items.length === 0 && <p class="none">{t("batch.noItems")}</p>}
      {items.value?.next && <p class="soft">{t("batch.firstItems", { count: items.value.items.length })}</p>}
      {cancelling && (
        <Confirm
          title={t("batch.cancelTitle")}
          text={t("batch.cancelText")}
          action={t("batch.cancel")}
          danger
          onClose={() => setCancelling(false)}
          onConfirm={() => {
            setCancelling(false);
            act("cancel");
          }}
        />
      )}
    </section>
  );
}
