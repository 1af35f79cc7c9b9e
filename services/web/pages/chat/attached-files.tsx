// Attached files as they are seen: at a question, downloadable; beside the one being written, with their progress.

import type { VNode } from "preact";
import { TEXT_ENCODINGS, type TextEncoding } from "../../../core/text-encodings.ts";
import type { Attachment } from "../../../core/wire/turn.ts";
import { ATTACHMENTS_A_QUESTION, type DraftFile } from "../core/attached.ts";
import { sizeText } from "../core/duration.ts";
import { Icon } from "../parts/icon.tsx";
import { useStore } from "../store.ts";
import { numberText, t } from "../text/text.ts";
import { mayReadOtherwise, mayRetry, notTaken, readOtherwise, removeFile, retryFile } from "./draft-files.ts";

/** The files of a question. */
export function AttachedFiles({ files }: { readonly files: readonly Attachment[] }): VNode | null {
  if (files.length === 0) return null;
  return (
    <ul class="attached" aria-label={t("attach.list")}>
      {files.map((file) => (
        <li key={file.id}>
          {file.image ? (
            <a class="picture" href={`/api/attachments/${file.id}`} target="_blank" rel="noopener">
              <img src={`/api/attachments/${file.id}`} alt={file.name} loading="lazy" {...file.image} />
            </a>
          ) : (
            <a class="file" href={`/api/attachments/${file.id}`} download={file.name}>
              <Icon name="file" />
              <span class="name">{file.name}</span>
              <span class="soft">{sizeText(file.bytes)}</span>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

interface DraftFileListProps {
  readonly conversationId: string | null;
  readonly files: readonly DraftFile[];
  /** Said under the files: what the question waits for. */
  readonly note: string | null;
  readonly onRemoved: () => void;
}

/** The files of the question that is being written. */
export function DraftFileList({ conversationId, files, note, onRemoved }: DraftFileListProps): VNode | null {
  const left = useStore(notTaken);
  if (files.length === 0) return null;
  return (
    <div class="draft-files">
      <ul class="attached" aria-label={t("attach.list")}>
        {files.map((file) => (
          <li key={file.key} class="file" data-state={file.state}>
            {file.image && file.id !== null && file.state === "ready" ? (
              <img src={`/api/attachments/${file.id}`} alt="" />
            ) : (
              <Icon name={file.state === "failed" ? "alert" : "file"} />
            )}
            <span class="name">{file.name}</span>
            <span class={file.state === "failed" ? "bad" : "soft"} role="status">
              {stateText(file)}
            </span>
            {file.state === "uploading" && (
              <progress
                max={file.bytes}
                value={file.sentBytes}
                aria-label={t("attach.progress", { name: file.name })}
              />
            )}
            {mayReadOtherwise(file) && (
              <select
                aria-label={t("attach.howRead", { name: file.name })}
                value={file.encoding}
                onChange={(event) => readOtherwise(conversationId, file, event.currentTarget.value as TextEncoding)}
              >
                {TEXT_ENCODINGS.map((encoding) => (
                  <option key={encoding} value={encoding}>
                    {t("attach.readAs", { encoding })}
                  </option>
                ))}
              </select>
            )}
            {file.state === "failed" && mayRetry(file) && (
              <button type="button" class="link" onClick={() => retryFile(conversationId, file.key)}>
                {t("retry")}
              </button>
            )}
            <button
              type="button"
              class="link"
              aria-label={t("attach.remove", { name: file.name })}
              title={t("attach.remove", { name: file.name })}
              onClick={() => {
                removeFile(conversationId, file);
                onRemoved();
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <p class="bad" role="alert">
          {t("attach.left", { count: left, most: numberText(ATTACHMENTS_A_QUESTION) })}
        </p>
      )}
      {note && (
        <p class="soft" role="status">
          {note}
        </p>
      )}
    </div>
  );
}

function stateText(file: DraftFile): string {
  if (file.failure !== null) return t(`attach.${file.failure}`);
  if (file.state === "uploading") return t("attach.uploading");
  return sizeText(file.bytes);
}
