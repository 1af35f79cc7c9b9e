// Files attached to a question: what may be attached, and how a draft's files change. Pure; the server takes its bounds
// from here too, so that the page refuses exactly what the server would.

import type { Attachment, AttachmentsAQuestion } from "../../../core/wire/turn.ts";

/** The server's bound of an image; larger ones are drawn smaller here before they are sent. */
const IMAGE_BYTES = 2 * 2 ** 20;
/** Longest side of an image drawn smaller: models look at no more. */
export const DRAWN_PX = 2_048;

export const ATTACHMENTS_A_QUESTION: AttachmentsAQuestion = 5;
export const ATTACHMENT_BYTES = 2 ** 20;
/** Of a PDF, Word, Excel or PowerPoint file, of which the text is kept. */
export const DOCUMENT_BYTES = 8 * 2 ** 20;

type AttachFailure =
  | "tooLarge"
  | "type"
  | "document"
  | "encoding"
  | "unseen"
  | "empty"
  | "gone"
  | "interrupted"
  | "network"
  | "other";

/** A file beside the question that is being written. */
export interface DraftFile {
  /** This browser's name for it. */
  readonly key: string;
  readonly name: string;
  readonly bytes: number;
  readonly state: "uploading" | "ready" | "failed";
  /** How much of it has been sent. */
  readonly sentBytes: number;
  /** The server's id; null until it has the file. */
  readonly id: string | null;
  /** How the server read it; absent: it has not, or an older page kept this. */
  readonly encoding?: string;
  /** Of an image the server has. */
  readonly image?: Attachment["image"];
  readonly failure: AttachFailure | null;
}

/** Takes in as many of the chosen files as a question may have; `left` is how many found no place. */
export function takeFiles<Chosen>(
  present: number,
  chosen: readonly Chosen[],
): { readonly taken: readonly Chosen[]; readonly left: number } {
  const taken = chosen.slice(0, Math.max(0, ATTACHMENTS_A_QUESTION - present));
  return { taken, left: chosen.length - taken.length };
}

const isPicture = (name: string): boolean => /\.(?:png|jpe?g|gif|webp)$/i.test(name);

/** Is it an image to be drawn smaller before it is sent? Another kind of picture is left to the server's judgement. */
export const isToDraw = (name: string, bytes: number): boolean => isPicture(name) && bytes > IMAGE_BYTES;

/** What is wrong with a file before a byte of it is sent; null: nothing that the page can see. */
export function refusedAtOnce(name: string, bytes: number): AttachFailure | null {
  if (bytes === 0) return "empty";
  if (isPicture(name)) return null;
  const most = /\.(?:pdf|docx|xlsx|pptx)$/i.test(name) ? DOCUMENT_BYTES : ATTACHMENT_BYTES;
  return bytes > most ? "tooLarge" : null;
}

/** The failure by the problem's code. */
export function failureOfCode(code: string, status: number): AttachFailure {
  if (code === "attachment.tooLarge" || status === 413) return "tooLarge";
  if (code === "attachment.type") return "type";
  if (code === "attachment.document") return "document";
  if (code === "attachment.encoding") return "encoding";
  if (code === "attachment.unseen") return "unseen";
  if (code === "attachment.pixels") return "tooLarge";
  if (code === "attachment.empty") return "empty";
  return status === 0 || status >= 500 ? "network" : "other";
}

/** Files of the server as a draft has them. */
export function draftOf(files: readonly Attachment[], gone: readonly string[] = []): readonly DraftFile[] {
  return files.map(({ id, name, bytes, image }) => {
    const isGone = gone.includes(id);
    const state = isGone ? "failed" : "ready";
    return { key: id, name, bytes, state, sentBytes: bytes, id, failure: isGone ? "gone" : null, image };
  });
}

/** A kept draft's files after a reload: what was still on its way is lost, its bytes were the page's that is gone. */
export function afterReload(files: readonly DraftFile[]): readonly DraftFile[] {
  return files.map((file) =>
    file.state === "uploading" ? { ...file, state: "failed", sentBytes: 0, failure: "interrupted" } : file,
  );
}

/**
 * May the question go? wait: as soon as every file is there; blocked: one failed and must be removed or sent again;
 * unseen: there is an image, and `looks` is false: its model does not look at images.
 */
export function readiness(files: readonly DraftFile[], looks = true): "go" | "wait" | "blocked" | "unseen" {
  if (!looks && files.some(({ image }) => image)) return "unseen";
  if (files.some((file) => file.state === "failed")) return "blocked";
  return files.some((file) => file.state === "uploading") ? "wait" : "go";
}

/** The files that go with the question. */
export function readyFiles(files: readonly DraftFile[]): readonly Attachment[] {
  return files.flatMap(({ id, name, bytes, state, image }) =>
    state === "ready" && id !== null ? [{ id, name, bytes, image }] : [],
  );
}
