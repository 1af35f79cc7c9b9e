// Recorded failures in the reader's language: the server stores them in the installation's.

import { LANGUAGES, type Language } from "../../../../config/language.ts";
import { words } from "../../../text/words.ts";

const KEYS = ["turn.cut", "turn.unclaimed", "turn.error"] as const;

/** The message in `language` when it is one of the agreed sentences, else as it is. */
export function ownWords(message: string, language: Language): string {
  const key = KEYS.find((name) => words[name].includes(message));
  return key === undefined ? message : (words[key][LANGUAGES.indexOf(language)] ?? message);
}
