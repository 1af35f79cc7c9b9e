// Whether Enter sends. Invariant: an Enter that confirms a syllable or a candidate of an input method never sends,
// in any engine: WebKit reports it after compositionend with keyCode 229, Blink before it with isComposing.

interface KeyFacts {
  readonly key: string;
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  /** True between compositionstart and compositionend of the field, as we saw it ourselves. */
  readonly composing: boolean;
}

/**
 * True when this keydown sends the message; Shift or Alt with Enter is a new line. On a touch keyboard every Enter is: it
 * has no Shift at hand, and a button sends.
 */
export function mayEnterSend(key: KeyFacts, isTouch = false): boolean {
  if (isTouch || key.key !== "Enter" || key.shiftKey || key.altKey) return false;
  return !(key.isComposing || key.keyCode === 229 || key.composing);
}
