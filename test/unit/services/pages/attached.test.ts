// A draft's files: what may be attached, what a reload leaves, when the question may go.

import { expect, test } from "vitest";
import {
  ATTACHMENT_BYTES,
  afterReload,
  DOCUMENT_BYTES,
  type DraftFile,
  draftOf,
  failureOfCode,
  isToDraw,
  readiness,
  readyFiles,
  refusedAtOnce,
  takeFiles,
} from "../../../../services/web/pages/core/attached.ts";

const ready: DraftFile = { key: "k", name: "a.csv", bytes: 5, state: "ready", sentBytes: 5, id: "i", failure: null };
const uploading: DraftFile = { ...ready, state: "uploading", sentBytes: 2, id: null };
const failed: DraftFile = { ...ready, state: "failed", id: null, failure: "type" };

test("five files a question: the rest finds no place, and is counted", () => {
  expect(takeFiles(0, [1, 2, 3])).toEqual({ taken: [1, 2, 3], left: 0 });
  expect(takeFiles(3, [1, 2, 3])).toEqual({ taken: [1, 2], left: 1 });
  expect(takeFiles(5, [1])).toEqual({ taken: [], left: 1 });
  expect(takeFiles(7, [1])).toEqual({ taken: [], left: 1 });
});

test("too large and empty are seen before a byte is sent", () => {
  expect(refusedAtOnce("a.csv", ATTACHMENT_BYTES)).toBeNull();
  expect(refusedAtOnce("a.csv", ATTACHMENT_BYTES + 1)).toBe("tooLarge");
  expect(refusedAtOnce("a.PDF", DOCUMENT_BYTES)).toBeNull();
  expect(refusedAtOnce("a.docx", DOCUMENT_BYTES + 1)).toBe("tooLarge");
  expect(refusedAtOnce("a.csv", 0)).toBe("empty");
  // A photo is drawn smaller first.
  expect(refusedAtOnce("a.JPG", 100 * ATTACHMENT_BYTES)).toBeNull();
  expect(isToDraw("a.JPG", 2 * ATTACHMENT_BYTES + 1)).toBe(true);
  expect(isToDraw("a.JPG", 2 * ATTACHMENT_BYTES)).toBe(false);
  expect(isToDraw("a.bmp", 100 * ATTACHMENT_BYTES)).toBe(false);
});

test.each([
  ["attachment.type", 415, "type"],
  ["attachment.tooLarge", 413, "tooLarge"],
  ["http.413", 413, "tooLarge"],
  ["attachment.empty", 422, "empty"],
  ["network", 0, "network"],
  ["database.away", 503, "network"],
  ["session.missing", 401, "other"],
])("the problem %s (%i) is told as %s", (code, status, failure) => {
  expect(failureOfCode(code, status)).toBe(failure);
});

test("a question waits for uploads, and goes with no failed file beside it", () => {
  expect(readiness([])).toBe("go");
  expect(readiness([ready])).toBe("go");
  expect(readiness([ready, uploading])).toBe("wait");
  expect(readiness([failed, uploading])).toBe("blocked");
  expect(readyFiles([ready, uploading, failed])).toEqual([{ id: "i", name: "a.csv", bytes: 5 }]);
});

test("a reload keeps what the server has; what was on its way is told as interrupted", () => {
  expect(afterReload([ready, uploading, failed])).toEqual([
    ready,
    { ...uploading, state: "failed", sentBytes: 0, failure: "interrupted" },
    failed,
  ]);
});

test("files of a question come back ready, but for those the server no longer has", () => {
  const files = [
    { id: "x", name: "x.txt", bytes: 1 },
    { id: "y", name: "y.txt", bytes: 2 },
  ];
  expect(draftOf(files, ["y"])).toMatchObject([
    { id: "x", state: "ready", failure: null },
    { id: "y", state: "failed", failure: "gone" },
  ]);
});

test("an image waits for a model that looks at it, and takes its size along", () => {
  const image = { width: 4, height: 3 };
  const picture = { ...ready, image };
  expect(readiness([ready, picture], false)).toBe("unseen");
  expect(readiness([ready], false)).toBe("go");
  expect(readiness([picture], true)).toBe("go");
  expect(readyFiles([picture])).toEqual([{ id: "i", name: "a.csv", bytes: 5, image }]);
  expect(draftOf(readyFiles([picture]))[0]).toMatchObject({ image });
});
