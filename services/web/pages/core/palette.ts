// What the palette offers for what was typed. Invariant: what is named by all typed words comes in the order it was given.

export interface Offered {
  readonly key: string;
  readonly name: string;
}

/** Those whose name holds each of the typed words, whatever their case; all of them where nothing was typed. */
export function namedBy<T extends Offered>(offers: readonly T[], typed: string): readonly T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return offers.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** The key `by` places after `key` in a round; the first one where `key` is not there, null where none is. */
export function keyAfter(offers: readonly Offered[], key: string | null, by: number): string | null {
  const at = offers.findIndex((offer) => offer.key === key);
  if (at < 0) return offers[0]?.key ?? null;
  return offers[(at + by + offers.length) % offers.length]?.key ?? null;
}
