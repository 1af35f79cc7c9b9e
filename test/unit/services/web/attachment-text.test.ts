// Bytes of attached files into text, and names into names that may be shown.

import { expect, test } from "vitest";
import { attachedName, decodeText } from "../../../../services/web/attachment-text.ts";

const bytes = (...values: readonly number[]) => Uint8Array.from(values);
const utf16 = (text: string, bigEndian: boolean) => {
  const body = Buffer.from(`\ufeff${text}`, "utf16le");
  return bigEndian ? body.swap16() : body;
};

test.each([
  ["UTF-8", Buffer.from("이름,값\n가,1\n")],
  ["UTF-8 with a mark", Buffer.from("\ufeff이름,값\n가,1\n")],
  ["UTF-16, little end first", utf16("이름,값\n가,1\n", false)],
  ["UTF-16, big end first", utf16("이름,값\n가,1\n", true)],
  ["CP949", bytes(0xc0, 0xcc, 0xb8, 0xa7, 0x2c, 0xb0, 0xaa, 0x0a, 0xb0, 0xa1, 0x2c, 0x31, 0x0a)],
])("%s is read, without its mark", (_what, file) => {
  expect(decodeText(file)).toBe("이름,값\n가,1\n");
});

// Pairs of CP949 that EUC-KR does not know, from both ends of either part of its table, and its two later signs.
test.each([
  [[0x81, 0x41], "갂"],
  [[0x8c, 0x63], "똠"],
  [[0x94, 0xee], "뷁"],
  [[0xa0, 0xfe], "좤"],
  [[0xa1, 0x41], "좥"],
  [[0xc6, 0x52], "힣"],
  [[0xb0, 0xa1], "가"],
  [[0xca, 0xa1], "伽"],
  [[0xa2, 0xe6], "€"],
])("the rare pair %j of CP949 is %s", (pair, character) => {
  expect(decodeText(bytes(0xb0, 0xa1, ...pair, 0x41))).toBe(`가${character}A`);
});

test.each([
  ["NUL in ASCII", Buffer.from("a\u0000b")],
  ["UTF-16 without a mark", Buffer.from("abc", "utf16le")],
  ["half a pair at the end", bytes(0x41, 0xb0)],
  ["a pair that stands for nothing", bytes(0xb0, 0xa1, 0xc9, 0xa1)],
  ["a byte that begins nothing", bytes(0xff, 0x41, 0x42)],
  ["half a surrogate in UTF-16", bytes(0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00)],
  ["an odd length in UTF-16", bytes(0xff, 0xfe, 0x41)],
  ["the head of a PNG", bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d)],
  ["the head of a WAV", Buffer.from("RIFF\u0024\u0000\u0000\u0000WAVE")],
])("%s is no text", (_what, file) => {
  expect(decodeText(file)).toBeNull();
});

test.each([
  ["sales.csv", "sales.csv"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\mina\\매출.csv", "매출.csv"],
  ["a\u0000\r\nb.txt", "ab.txt"],
  // A mark of direction would show "exe.txt" as "txt.exe".
  ["evil\u202etxt.exe", "eviltxt.exe"],
  // As a Mac writes it: each syllable in its parts.
  ["매출.csv".normalize("NFD"), "매출.csv"],
  ["half\ud800.md", "half.md"],
  ["", "file.txt"],
  [undefined, "file.txt"],
  ["..", "file.txt"],
  ["dir/", "file.txt"],
  [`${"긴".repeat(300)}.csv`, `${"긴".repeat(116)}.csv`],
  [`${"x".repeat(300)}`, "x".repeat(120)],
])("the name %j is shown as %j", (raw, name) => {
  expect(attachedName(raw)).toBe(name);
});
