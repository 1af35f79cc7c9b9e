// Texts that are cut and joined without cutting a character: a surrogate pair stays together. Pure, linear cost.

const HALF_AT_END = /[\uD800-\uDBFF]$/;

/** Joins what was cut inside a character: the first half of a surrogate pair waits for the second. */
export function createWholeCharacters(): (delta: string) => string {
  let half = "";
  return (delta) => {
    const text = half + delta;
    half = HALF_AT_END.test(text) ? text.slice(-1) : "";
    return half === "" ? text : text.slice(0, -1);
  };
}

/** The text in slices of at most `length` characters (two at least). */
export function* slicesOf(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const slice = text.slice(at, at + length);
    const whole = at + length < text.length && HALF_AT_END.test(slice) ? slice.slice(0, -1) : slice;
    yield whole;
    at += whole.length;
  }
}
