// Texts a user reads, by language.

import type { Language } from "../../config/language.ts";
import { type Say, sayOf } from "../../config/text.ts";
import { en } from "./en.ts";
import { ko } from "./ko.ts";

/** Says a sentence of the language it was made for. */
export type Text = Say<typeof en>;

export const catalogues: Readonly<Record<Language, typeof en>> = { ko, en };

export function textOf(language: Language): Text {
  return sayOf(() => catalogues[language]);
}
