// One transcript: segments appear as they end, a click plays from there, what is heard is marked.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Transcript } from "../../../core/wire/transcription.ts";
import { call } from "../api.ts";
import { clockText, elapsedText } from "../core/duration.ts";
import { Awaited, BackTo } from "../parts/awaited.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { DeleteButton } from "./delete-button.tsx";
import { ProgressBar } from "./progress.tsx";

type Segment = Transcript["segments"][number];

export function TranscriptView({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<Transcript>(`/api/transcriptions/${id}`, {
    marks: [`transcription:${id}`],
    pollMs: 3_000,
  });
  const [words, setWords] = useState("");
  const [atMs, setAtMs] = useState(-1);
  const [refused, setRefused] = useState<string | null>(null);
  const player = useRef<HTMLAudioElement>(null);
  const now = useNow(1_000, value?.state === "running");

  if (missing) return <p class="none">{t("recordings.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;

  const isLive = value.state === "queued" || value.state === "running";
  const needle = words.trim().toLowerCase();
  const shown =
    needle === "" ? value.segments : value.segments.filter((one) => one.text.toLowerCase().includes(needle));

  function play(segment: Segment): void {
    const element = player.current;
    if (!element) return;
    element.currentTime = segment.startMs / 1000;
    void element.play().catch(() => undefined);
  }

  function act(verb: "stop" | "retry"): void {
    setRefused(null);
    call(`/api/transcriptions/${id}/${verb}`, { method: "POST" }).then(refresh, (error: unknown) =>
      setRefused(failureText(error)),
    );
  }

  return (
    <section class="page transcript">
      <BackTo
        href={value.batchId ? `/batches/${value.batchId}` : "/recordings"}
        name={value.batchId ? t("nav.batches") : t("nav.recordings")}
      />
      <header class="page-head">
        <h1>{value.name}</h1>
        <span class={`state state-${value.state}`}>
          {value.stopRequested && isLive ? t("turn.stopping") : t(`work.${value.state}`)}
        </span>
        <p>{isLive ? t("recordings.goesOn") : momentText(value.createdAt, now)}</p>
      </header>
      {refused && <Failure text={refused} />}
      {failed && <Failure text={failed} onRetry={refresh} />}
      {value.message && <Failure text={value.message} />}
      {isLive && (
        <div class="card">
          <ProgressBar share={value.progress} />
          <p class="soft">
            {value.secondsTotal !== null &&
              t("recordings.done", {
                done: clockText(value.secondsDone * 1000),
                total: clockText(value.secondsTotal * 1000),
              })}{" "}
            {value.state === "running" &&
              t("work.moved", { age: elapsedText(now - Date.parse(value.movedAt), languageNow()) })}
          </p>
        </div>
      )}
      <div class="player">
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript below is the caption */}
        <audio
          ref={player}
          controls
          preload="metadata"
          src={`/api/transcriptions/${id}/media`}
          onTimeUpdate={(event) => setAtMs(event.currentTarget.currentTime * 1000)}
        />
        <div class="actions">
          {(["txt", "srt", "vtt"] as const).map((format) => (
            <a key={format} class="link" href={`/api/transcriptions/${id}/text?format=${format}`} download>
              {format.toUpperCase()}
            </a>
          ))}
          {isLive && !value.stopRequested && (
            <button type="button" class="link" onClick={() => act("stop")}>
              {t("turn.stop")}
            </button>
          )}
          {(value.state === "failed" || value.state === "cancelled") && (
            <button type="button" onClick={() => act("retry")}>
              {t("retry")}
            </button>
          )}
          {!isLive && value.batchId === null && (
            <DeleteButton
              path={`/api/transcriptions/${id}`}
              title={t("playbook.deleteTitle", { name: value.name })}
              text={t(value.uploadId === null ? "recordings.deleteText" : "recordings.deleteAll")}
              back="/recordings"
              onRefused={setRefused}
            />
          )}
        </div>
      </div>
      <div class="toolbar">
        <label>
          {t("recordings.search")}
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <p class="soft">{t("recordings.segments", { count: shown.length })}</p>
      </div>
      {value.segments.length === 0 && (isLive || value.state === "done") && (
        <p class="none">{isLive ? t("recordings.soon") : t("recordings.silent")}</p>
      )}
      <ol class="segments" aria-live={isLive ? "polite" : "off"} aria-relevant="additions">
        {shown.map((segment) => (
          <li key={segment.n}>
            <button
              type="button"
              aria-current={atMs >= segment.startMs && atMs < segment.endMs ? "true" : undefined}
              onClick={() => play(segment)}
            >
              <time>{clockText(segment.startMs)}</time>
              <span>{segment.text || "…"}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
