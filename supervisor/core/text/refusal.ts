// An error that can be said in every language. Thrown far from whoever asked, it keeps what it found; the words are made
// where it is told: English in its message, for the log, the caller's language in a problem document, the installation's
// on record.

import { asError, OwlError, type OwlErrorOptions } from "../../../config/errors.ts";
import type { Words } from "./text.ts";
import { en, type Text } from "./text.ts";

export class Refusal extends OwlError {
  /** The sentence and the next step in the language of `text`. */
  readonly words: (text: Text) => Words;

  constructor(code: string, words: (text: Text) => Words, options: Omit<OwlErrorOptions, "next"> = {}) {
    const { sentence, next } = words(en);
    super(code, sentence, next === undefined ? options : { ...options, next });
    this.words = words;
  }
}

/** What was caught, in the language of `text` where it knows one, else as it is. */
export function wordsOf(caught: unknown, text: Text): Words {
  if (caught instanceof Refusal) return caught.words(text);
  const error = asError(caught);
  const next = error instanceof OwlError ? error.next : undefined;
  return next === undefined ? { sentence: error.message } : { sentence: error.message, next };
}
