// Recordings: upload them, watch their transcripts grow, open one.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Page } from "../../../core/wire/parts.ts";
import type { Transcription } from "../../../core/wire/transcription.ts";
import { clockText, sizeText } from "../core/duration.ts";
import { WorkList } from "../parts/awaited.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { useStore } from "../store.ts";
import { momentText, t } from "../text/text.ts";
import { ProgressBar } from "./progress.tsx";
import { TranscriptView } from "./transcript-view.tsx";
import { addFiles, removeUpload, retryUpload, type Uploading, uploads } from "./uploads.ts";

export default function RecordingsPage({ id }: { readonly id: string | null }): VNode {
  return id === null ? <Recordings /> : <TranscriptView key={id} id={id} />;
}

function Recordings(): VNode {
  const list = useResource<Page<Transcription>>("/api/transcriptions?limit=100", { marks: ["transcription"] });
  const sending = useStore(uploads);
  const [over, setOver] = useState(false);
  const now = useNow(30_000);
  const unsent = sending.filter((item) => item.state !== "sent");

  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.recordings")}</h1>
        <p>{t("recordings.goesOn")}</p>
      </header>
      <label
        class={over ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          addFiles(event.dataTransfer?.files ?? []);
        }}
      >
        <Icon name="recordings" />
        <strong>{t("recordings.drop")}</strong>
        <span>{t("recordings.kinds")}</span>
        <input
          type="file"
          multiple
          accept="audio/*,video/*"
          onChange={(event) => {
            addFiles(event.currentTarget.files ?? []);
            event.currentTarget.value = "";
          }}
        />
      </label>
      {unsent.length > 0 && (
        <ul class="work-list" aria-label={t("recordings.uploads")}>
          {unsent.map((item) => (
            <UploadRow key={item.key} item={item} />
          ))}
        </ul>
      )}
      <WorkList
        list={list}
        none={t("recordings.none")}
        row={(item) => (
          <li key={item.id} data-state={item.state}>
            <a href={`/recordings/${item.id}`} onClick={follow}>
              {item.name}
            </a>
            <span class={`state state-${item.state}`}>{t(`work.${item.state}`)}</span>
            {item.state === "running" && <ProgressBar share={item.progress} label={item.name} />}
            <span class="soft">
              {item.secondsTotal !== null && `${clockText(item.secondsTotal * 1000)} · `}
              {momentText(item.createdAt, now)}
            </span>
            {item.message && <p class="bad">{item.message}</p>}
          </li>
        )}
      />
    </section>
  );
}

function UploadRow({ item }: { readonly item: Uploading }): VNode {
  return (
    <li data-state={item.state}>
      <span class="grow">{item.file.name}</span>
      <span class={item.state === "failed" || item.state === "broken" ? "bad" : "soft"} role="status">
        {item.failed ?? t(`upload.${item.state as "waiting" | "sending" | "broken" | "checking" | "failed"}`)}
      </span>
      <ProgressBar share={item.file.size === 0 ? 0 : item.sent / item.file.size} label={item.file.name} />
      <span class="soft">
        {sizeText(item.sent)} / {sizeText(item.file.size)}
        {item.rate !== null && ` · ${sizeText(item.rate)}/s`}
      </span>
      {item.state === "failed" && (
        <button type="button" class="link" onClick={() => retryUpload(item.key)}>
          {t("retry")}
        </button>
      )}
      <button type="button" class="link" onClick={() => removeUpload(item.key)}>
        {t("cancel")}
      </button>
    </li>
  );
}
