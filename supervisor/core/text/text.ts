// The catalogue of a language. Pure.

import type { Language } from "../../../config/language.ts";
import { en, type Text } from "./en.ts";
import { ko } from "./ko.ts";

export type { Text } from "./en.ts";

/** A sentence that is kept until somebody asks, and said in the language of whoever does. */
export type Sentence = (text: Text) => string;

/** Everything owld says, in that language. */
export function textOf(language: Language): Text {
  return language === "ko" ? ko : en;
}
