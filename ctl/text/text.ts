// owlctl's words in the reader's language.

import type { Language } from "../../config/language.ts";
import { type Said, wordsIn } from "../../config/text.ts";
import { words } from "./words.ts";

export type Text = Said<typeof words>;

export const textOf = (language: Language): Text => wordsIn(words, language);
