// The catalogue of a language, and which language was asked for. Pure.

import type { Language } from "../../../config/config.ts";
import { en, type Text } from "./en.ts";
import { ko } from "./ko.ts";

export type { Text } from "./en.ts";

/** A sentence that is kept until somebody asks, and said in the language of whoever does. */
export type Sentence = (text: Text) => string;

/** Everything owld says, in that language. */
export function textOf(language: Language): Text {
  return language === "ko" ? ko : en;
}

/**
 * The language of an Accept-Language header, or null when it names neither. The first of ours counts, whatever its `q`:
 * owlctl sends one, and browsers list in the order of preference.
 */
export function acceptedLanguage(header: string | undefined): Language | null {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().toLowerCase());
  const ours = tags.find((tag) => /^(ko|en)\b/.test(tag));
  return ours === undefined ? null : ours.startsWith("ko") ? "ko" : "en";
}
