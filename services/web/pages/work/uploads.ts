// The uploads of this tab: they go on while other pages are looked at. One at a time, in the order they were chosen.

import type { TranscriptionAccepted } from "../../../core/wire/transcription.ts";
import { ApiError, call } from "../api.ts";
import { browserClock, browserRandom } from "../browser-time.ts";
import { failureText } from "../parts/failure.tsx";
import { createStore, type Store } from "../store.ts";
import { t } from "../text/text.ts";
import { refusedBeforehand } from "./recording-check.ts";
import { sendFile, type UploadProgress } from "./upload.ts";

export interface Uploading {
  readonly key: string;
  readonly file: File;
  readonly state: "waiting" | UploadProgress["state"] | "failed" | "sent";
  readonly sent: number;
  /** Bytes a second over the time it was sent. */
  readonly rate: number | null;
  readonly failed: string | null;
  readonly transcriptionId: string | null;
}

export const uploads: Store<readonly Uploading[]> = createStore<readonly Uploading[]>([]);

const aborts = new Map<string, AbortController>();
let running = false;

function change(key: string, part: Partial<Uploading>): void {
  uploads.set((now) => now.map((item) => (item.key === key ? { ...item, ...part } : item)));
}

/** Puts files in line. */
export function addFiles(files: Iterable<File>): void {
  const added = [...files].map(
    (file): Uploading => ({
      key: browserRandom.uuid(),
      file,
      state: "waiting",
      sent: 0,
      rate: null,
      failed: null,
      transcriptionId: null,
    }),
  );
  uploads.set((now) => [...now, ...added]);
  void run();
}

export function retryUpload(key: string): void {
  change(key, { state: "waiting", failed: null });
  void run();
}

/** Ends it and takes it out of the list. */
export function removeUpload(key: string): void {
  aborts.get(key)?.abort();
  uploads.set((now) => now.filter((item) => item.key !== key));
}

async function run(): Promise<void> {
  if (running) return;
  running = true;
  addEventListener("beforeunload", warn);
  try {
    for (;;) {
      const next = uploads.get().find((item) => item.state === "waiting");
      if (!next) break;
      await send(next);
    }
  } finally {
    running = false;
    removeEventListener("beforeunload", warn);
  }
}

async function send({ key, file }: Uploading): Promise<void> {
  const abort = new AbortController();
  aborts.set(key, abort);
  const startedAt = browserClock.monotonicMs();
  let first: number | null = null;
  try {
    const refused = await refusedBeforehand(file).catch(() => null);
    if (refused !== null) {
      change(key, { state: "failed", failed: t(refused === "empty" ? "upload.empty" : "upload.wrongType") });
      return;
    }
    if (abort.signal.aborted) return;
    const uploadId = await sendFile(
      file,
      ({ sent, state }) => {
        first ??= sent;
        const seconds = (browserClock.monotonicMs() - startedAt) / 1000;
        change(key, { sent, state, rate: seconds > 1 ? (sent - first) / seconds : null });
      },
      abort.signal,
    );
    const made = await call<TranscriptionAccepted>("/api/transcriptions", {
      method: "POST",
      body: { uploadId },
      key: `transcribe-${uploadId}`,
    });
    change(key, { state: "sent", sent: file.size, transcriptionId: made.transcriptionId });
  } catch (error) {
    if (abort.signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    change(key, { state: "failed", failed: failureText(error) });
  } finally {
    aborts.delete(key);
  }
}

/** The file is the browser's: only the upload itself needs this tab. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
