// What the application says, in one language.

import type { Language } from "../../config/language.ts";
import { type Say, sayOf } from "../../config/text.ts";
import { words } from "./words.ts";

/** Says a sentence of the language it was made for. */
export type Text = Say<typeof words>;

export const textOf = (language: Language): Text => sayOf(words, () => language);
