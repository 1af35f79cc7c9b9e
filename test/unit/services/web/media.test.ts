import { expect, test } from "vitest";
import { parseRange } from "../../../../services/web/media.ts";
import { shownName } from "../../../../services/web/upload-files.ts";

test.each([
  [undefined, null],
  ["bytes=0-99", { start: 0, end: 99 }],
  ["bytes=500-", { start: 500, end: 999 }],
  ["bytes=-100", { start: 900, end: 999 }],
  ["bytes=-5000", { start: 0, end: 999 }],
  ["bytes=900-5000", { start: 900, end: 999 }],
  ["bytes=1000-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-2", null],
  ["bytes=0-1,5-6", null],
  ["items=0-1", null],
])("a range %s of 1000 bytes", (header, range) => {
  expect(parseRange(header, 1_000)).toEqual(range);
});

test.each([
  ["../../etc/passwd", "passwd"],
  ["C:\\talk.wav", "talk.wav"],
  ["a\u0000\nb.wav", "ab.wav"],
  ["", "recording"],
  [undefined, "recording"],
  ["회의.wav", "회의.wav"],
])("the shown name of %j is %j", (raw, name) => {
  expect(shownName(raw)).toBe(name);
});
