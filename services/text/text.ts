// Texts a user reads, by language. Invariant: both catalogues have the same keys (compiler and test).

import { en } from "./en.ts";
import { ko } from "./ko.ts";

export type TextKey = keyof typeof en;
export type Catalogue = Readonly<Record<TextKey, string>>;
/** Fills `{name}` marks of the sentence `key`. */
export type Text = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

export const catalogues: Readonly<Record<"ko" | "en", Catalogue>> = { ko, en };

/** The sentences of `language`. */
export function textOf(language: "ko" | "en"): Text {
  const catalogue = catalogues[language];
  return (key, values = {}) => catalogue[key].replace(/\{(\w+)\}/g, (mark, name) => String(values[name] ?? mark));
}
