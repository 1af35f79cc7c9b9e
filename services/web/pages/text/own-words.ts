// Recorded failures in the reader's language: the server stores them in the installation's.

import type { Language } from "../../../../config/language.ts";
import { catalogues } from "../../../text/text.ts";

const KEYS = ["turn.cut", "turn.unclaimed", "turn.error"] as const;

/** The message in `language` when it is one of the agreed sentences, else as it is. */
export function ownWords(message: string, language: Language): string {
  const key = KEYS.find((name) => message === catalogues.ko[name] || message === catalogues.en[name]);
  return key === undefined ? message : catalogues[language][key];
}
