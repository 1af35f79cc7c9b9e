// The encodings a text file may be read in, as people call them; what a guess may choose and a person may change.

export const TEXT_ENCODINGS = [
  "UTF-8",
  "UTF-16",
  "CP949",
  "Windows-1252",
  "Shift_JIS",
  "EUC-JP",
  "GB18030",
  "Big5",
  "Windows-1251",
] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];
