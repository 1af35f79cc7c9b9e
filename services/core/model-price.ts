// What tokens cost. Pure.

const PER = 1_000_000;

/** Of tokens given to a model and said by it, by its price of a million each. */
export function costOf(
  tokens: { readonly input: number; readonly output: number },
  price: { readonly input: number; readonly output: number },
): number {
  return (tokens.input * price.input + tokens.output * price.output) / PER;
}
