// Bytes of attached files into text, and names into names that may be shown.

import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { attachedName, readText } from "../../../../services/web/attachment-text.ts";

const bytes = (...values: readonly number[]) => Uint8Array.from(values);
const textOf = (file: Uint8Array) => readText(file)?.text ?? null;
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
  expect(textOf(file)).toBe("이름,값\n가,1\n");
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
  expect(textOf(bytes(0xb0, 0xa1, ...pair, 0x41))).toBe(`가${character}A`);
});

test.each([
  ["NUL in ASCII", Buffer.from("a\u0000b")],
  ["UTF-16 without a mark", Buffer.from("abc", "utf16le")],
  ["half a pair at the end", bytes(0x41, 0xb0)],
  ["a pair that stands for nothing", bytes(0xb0, 0xa1, 0xc9, 0xa1)],
  ["a byte that begins nothing, among controls", bytes(0xff, 0x41, 0x42, 0x01)],
  ["half a surrogate in UTF-16", bytes(0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00)],
  ["an odd length in UTF-16", bytes(0xff, 0xfe, 0x41)],
  ["the head of a PNG", bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d)],
  ["the head of a WAV", Buffer.from("RIFF\u0024\u0000\u0000\u0000WAVE")],
])("%s is no text", (_what, file) => {
  expect(textOf(file)).toBeNull();
});

test.each([
  ["UTF-8", "이름,값\n"],
  ["CP949", "이름,값\n가,1\n"],
  ["CP949", "2025년 3분기 매출 보고서\n지역,매출,증가율\n서울,1204,3.1\n"],
  ["GB18030", "今天的会议记录如下：客户咨询比上周增加，物流延误最多，请尽快处理。"],
  ["Shift_JIS", "本日の会議の議事録です。お客様からの問い合わせが先週より増えました。"],
  ["EUC-JP", "本日の会議の議事録です。お客様からの問い合わせが先週より増えました。"],
  ["Big5", "今天的會議紀錄如下：客戶諮詢比上週增加，物流延誤最多。"],
  ["Windows-1252", "Größe;Straße;Österreich\nMünchen;Köln;Düsseldorf\n"],
  ["Windows-1252", "Café crème à 3 € — déjà vu, où êtes-vous ?\n"],
  ["Windows-1251", "Привет, как дела? Отчёт о продажах за третий квартал."],
] as const)("text in %s is read as what it is: %s", (encoding, text) => {
  expect(readText(iconv.encode(text, encoding))).toEqual({ text, encoding });
});

test("what a person says about the encoding holds, and a wrong word is refused", () => {
  const short = iconv.encode("名前,都市\n", "Shift_JIS");
  expect(readText(short, "Shift_JIS")).toEqual({ text: "名前,都市\n", encoding: "Shift_JIS" });
  expect(readText(short, "UTF-8")).toBeNull();
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
