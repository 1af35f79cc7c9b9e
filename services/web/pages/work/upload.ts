// One resumable upload: begun with its length, sent in slices from the offset the server has, asked anew after a break.
// Invariants: the server's offset is the truth (HEAD after every failure); no byte is sent twice on purpose; what a
// reload interrupted goes on when the same file is chosen again.

import type { Upload } from "../../../core/wire/upload.ts";
import { ApiError, call, problemOf } from "../api.ts";
import { browserClock } from "../browser-time.ts";
import { keep, readKept } from "../kept.ts";

export interface UploadProgress {
  readonly sent: number;
  /** broken: waiting to go on after a broken connection. */
  readonly state: "sending" | "broken" | "checking";
}

const SLICE_BYTES = 4 * 2 ** 20;
/** Without any progress for so long, a connection counts as dead. */
const STALL_MS = 60_000;
const RETRIES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

interface Kept {
  readonly uploadId: string;
}

const markOf = (file: File): string => `upload.${file.name}.${file.size}.${file.lastModified}`;

/** Sends the file; resolves with the upload's id when the server has all of it. Throws ApiError for a refusal. */
export async function sendFile(
  file: File,
  tell: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<string> {
  const { uploadId, offset } = await beginOrResume(file, signal);
  let at = offset;
  let failures = 0;
  tell({ sent: at, state: "sending" });
  while (at < file.size) {
    signal.throwIfAborted();
    try {
      const end = Math.min(file.size, at + SLICE_BYTES);
      const base = at;
      at = await sendSlice(uploadId, file.slice(at, end), at, signal, (sent) =>
        tell({ sent: base + sent, state: base + sent >= file.size ? "checking" : "sending" }),
      );
      failures = 0;
      tell({ sent: at, state: "sending" });
    } catch (error) {
      signal.throwIfAborted();
      const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 409;
      if (isRefusal) {
        keep(markOf(file), null);
        throw error;
      }
      failures += 1;
      tell({ sent: at, state: "broken" });
      await browserClock.sleep(RETRIES_MS[Math.min(failures, RETRIES_MS.length) - 1] ?? 15_000, signal);
      // A 409 told us wrong, or the connection broke: only the server knows how far it came.
      const known = await offsetOf(uploadId, signal).catch(() => null);
      if (known !== null) at = known;
    }
  }
  keep(markOf(file), null);
  return uploadId;
}

async function beginOrResume(file: File, signal: AbortSignal): Promise<{ uploadId: string; offset: number }> {
  const kept = readKept<Kept | null>(markOf(file), null);
  if (kept) {
    const offset = await offsetOf(kept.uploadId, signal).catch(() => null);
    if (offset !== null) return { uploadId: kept.uploadId, offset };
  }
  const begun = await call<Upload>("/api/uploads", {
    method: "POST",
    body: { name: file.name, bytes: file.size },
    signal,
  });
  keep(markOf(file), { uploadId: begun.uploadId } satisfies Kept);
  return { uploadId: begun.uploadId, offset: begun.offset };
}

async function offsetOf(uploadId: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(`/api/uploads/${uploadId}`, { method: "HEAD", signal, cache: "no-store" });
  if (!response.ok) throw await problemOf(response);
  const offset = Number(response.headers.get("upload-offset"));
  if (!Number.isSafeInteger(offset)) throw new ApiError(0, "network", "network");
  return offset;
}

/** Sends one slice and gives the server's new offset. XMLHttpRequest, because fetch tells nothing of what was sent. */
function sendSlice(
  uploadId: string,
  slice: Blob,
  offset: number,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const broken = (): void => reject(new ApiError(0, "network", "network"));
    const abort = (): void => request.abort();
    let cancelStall = browserClock.after(STALL_MS, abort);
    signal.addEventListener("abort", abort, { once: true });
    request.open("PATCH", `/api/uploads/${uploadId}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("upload-offset", String(offset));
    request.upload.onprogress = (event) => {
      cancelStall();
      cancelStall = browserClock.after(STALL_MS, abort);
      onSent(event.loaded);
    };
    request.onerror = broken;
    request.onabort = broken;
    request.onload = () => {
      const told = Number(request.getResponseHeader("upload-offset"));
      if (request.status >= 200 && request.status < 300)
        return resolve(Number.isSafeInteger(told) ? told : offset + slice.size);
      void problemOf(new Response(request.responseText, { status: request.status })).then(reject);
    };
    request.onloadend = () => {
      cancelStall();
      signal.removeEventListener("abort", abort);
    };
    request.send(slice);
  });
}
