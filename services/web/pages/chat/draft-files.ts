// The files beside each unsent question. Invariants: a file that the server has is kept with the draft in this browser
// until the question took it; an upload goes on while another conversation is looked at; nothing fails without a reason.

import type { TextEncoding } from "../../../core/text-encodings.ts";
import type { AttachedFile, Attachment } from "../../../core/wire/turn.ts";
import { ApiError, call, problemOf } from "../api.ts";
import { browserClock, browserRandom } from "../browser-time.ts";
import {
  afterReload,
  DRAWN_PX,
  type DraftFile,
  draftOf,
  failureOfCode,
  isToDraw,
  refusedAtOnce,
  takeFiles,
} from "../core/attached.ts";
import { keep, readKept } from "../kept.ts";
import { createStore, type Store } from "../store.ts";

const held = new Map<string, Store<readonly DraftFile[]>>();
/** The browser's files by key: only this page has their bytes. */
const chosen = new Map<string, { readonly file: File; readonly abort: AbortController }>();
/** How many of the files chosen last found no place. */
export const notTaken: Store<number> = createStore(0);
/** Without any progress for so long, a connection counts as dead. */
const STALL_MS = 60_000;

const placeOf = (conversationId: string | null): string => `files.${conversationId ?? "new"}`;

/** The files of that conversation's draft. */
export function draftFiles(conversationId: string | null): Store<readonly DraftFile[]> {
  const place = placeOf(conversationId);
  const known = held.get(place);
  if (known) return known;
  const store = createStore<readonly DraftFile[]>(afterReload(readKept<readonly DraftFile[]>(place, [])));
  held.set(place, store);
  return store;
}

function put(conversationId: string | null, change: (now: readonly DraftFile[]) => readonly DraftFile[]): void {
  const store = draftFiles(conversationId);
  store.set(change);
  const now = store.get();
  keep(placeOf(conversationId), now.length === 0 ? null : now);
}

function changeFile(conversationId: string | null, key: string, part: Partial<DraftFile>): void {
  put(conversationId, (now) => now.map((file) => (file.key === key ? { ...file, ...part } : file)));
}

/** Uploads files for the draft. */
export function attachFiles(conversationId: string | null, files: Iterable<File>): void {
  const { taken, left } = takeFiles(draftFiles(conversationId).get().length, [...files]);
  notTaken.set(left);
  for (const file of taken) {
    const key = browserRandom.uuid();
    chosen.set(key, { file, abort: new AbortController() });
    const failure = refusedAtOnce(file.name, file.size);
    put(conversationId, (now) => [
      ...now,
      {
        key,
        name: file.name,
        bytes: file.size,
        state: failure === null ? "uploading" : "failed",
        sentBytes: 0,
        id: null,
        failure,
      },
    ]);
    if (failure === null) void upload(conversationId, key);
  }
}

/** Can it be sent again without being chosen again, and would that help? */
export function mayRetry(file: DraftFile): boolean {
  return chosen.has(file.key) && (file.failure === "network" || file.failure === "other");
}

export function retryFile(conversationId: string | null, key: string, encoding?: TextEncoding): void {
  const before = chosen.get(key);
  if (!before) return;
  chosen.set(key, { file: before.file, abort: new AbortController() });
  changeFile(conversationId, key, { state: "uploading", sentBytes: 0, failure: null });
  void upload(conversationId, key, encoding);
}

/** May its encoding be changed? Only this page has its bytes, and only until it is left. */
export const mayReadOtherwise = (file: DraftFile): boolean => chosen.has(file.key) && file.encoding !== undefined;

/** Has the server read it as `encoding`; what it made of it before goes. */
export function readOtherwise(conversationId: string | null, file: DraftFile, encoding: TextEncoding): void {
  const before = file.id;
  changeFile(conversationId, file.key, { id: null, encoding });
  retryFile(conversationId, file.key, encoding);
  if (before !== null) call(`/api/attachments/${before}`, { method: "DELETE" }).catch(() => undefined);
}

/** Takes a file out of the draft; one that only the draft had is deleted at the server too. */
export function removeFile(conversationId: string | null, file: DraftFile): void {
  notTaken.set(0);
  put(conversationId, (now) => now.filter((other) => other.key !== file.key));
  chosen.get(file.key)?.abort.abort();
  chosen.delete(file.key);
  // Of a question that is edited or taken back it may be that question's own.
  if (file.id === null || file.id === file.key) return;
  call(`/api/attachments/${file.id}`, { method: "DELETE" }).catch(() => undefined);
}

/** Puts files of the server in the draft's place: of a question that is edited or taken back. */
export function offerFiles(
  conversationId: string | null,
  files: readonly Attachment[],
  gone: readonly string[] = [],
): void {
  clearFiles(conversationId);
  put(conversationId, () => draftOf(files, gone));
}

/** The question has them: the draft is empty. */
export function clearFiles(conversationId: string | null): void {
  notTaken.set(0);
  for (const { key } of draftFiles(conversationId).get()) chosen.delete(key);
  put(conversationId, () => []);
}

async function upload(conversationId: string | null, key: string, encoding?: TextEncoding): Promise<void> {
  const own = chosen.get(key);
  if (!own) return;
  try {
    const tell = (sentBytes: number): void => changeFile(conversationId, key, { sentBytes });
    const made = await send(await smaller(own.file), encoding, own.abort.signal, tell);
    changeFile(conversationId, key, {
      id: made.id,
      name: made.name,
      bytes: made.bytes,
      encoding: made.encoding,
      image: made.image,
      sentBytes: made.bytes,
      state: "ready",
    });
  } catch (error) {
    if (own.abort.signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    changeFile(conversationId, key, { state: "failed", failure: failureOfCode(error.code, error.status) });
  }
}

/** A large image as one the server takes; whatever this browser cannot draw goes as it is. */
async function smaller(file: File): Promise<File> {
  if (!isToDraw(file.name, file.size)) return file;
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) return file;
  const scale = Math.min(1, DRAWN_PX / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) return file;
  // What is transparent would be black.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const drawn = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
  return drawn === null ? file : new File([drawn], file.name.replace(/\.\w+$/, ".jpg"));
}

/** XMLHttpRequest, because fetch tells nothing of what was sent. */
function send(
  file: File,
  encoding: TextEncoding | undefined,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<AttachedFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    const broken = (): void => reject(new ApiError(0, "network", "network"));
    let cancelStall = browserClock.after(STALL_MS, abort);
    signal.addEventListener("abort", abort, { once: true });
    const query = new URLSearchParams({ name: file.name.slice(-200), ...(encoding ? { encoding } : {}) });
    request.open("POST", `/api/attachments?${query}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => {
      cancelStall();
      cancelStall = browserClock.after(STALL_MS, abort);
      onSent(Math.min(event.loaded, file.size));
    };
    request.onerror = broken;
    request.onabort = broken;
    request.onload = () => {
      if (request.status === 201) return resolve(JSON.parse(request.responseText) as AttachedFile);
      void problemOf(new Response(request.responseText, { status: request.status })).then(reject);
    };
    request.onloadend = () => {
      cancelStall();
      signal.removeEventListener("abort", abort);
    };
    request.send(file);
  });
}
