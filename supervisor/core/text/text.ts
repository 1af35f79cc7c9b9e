// owld's words in each language. Pure.

import type { Language } from "../../../config/language.ts";
import { type Said, wordsIn } from "../../../config/text.ts";
import { words } from "./words.ts";

/** Everything owld says, in one language. */
export type Text = Said<typeof words>;
/** What it writes down. */
export type Recorded = Text["recorded"];

/** A sentence that is kept until somebody asks, and said in the language of whoever does. */
export type Sentence = (text: Text) => string;

/** A sentence, and what to do now. */
export interface Words {
  readonly sentence: string;
  readonly next?: string;
}

export const en = wordsIn(words, "en");
export const ko = wordsIn(words, "ko");

export const textOf = (language: Language): Text => (language === "ko" ? ko : en);
