// Prompts in the composer: what is typed after a slash, and the places of a text that are filled in. Pure.

const PLACE = /\{\{([^{}\n]{1,60})\}\}/g;
/** More of them are left as they stand. */
const MOST_PLACES = 20;

/** What stands after the slash, where that is all there is; null: it is no command. */
export const commandOf = (text: string): string | null => /^\/([\p{L}\p{N}_-]{0,40})$/u.exec(text)?.[1] ?? null;

/** The names to be filled in, each once, in their order. */
export function placesOf(text: string): readonly string[] {
  const names = [...text.matchAll(PLACE)].map(([, name = ""]) => name.trim());
  return [...new Set(names)].filter((name) => name !== "").slice(0, MOST_PLACES);
}

/** The text with what was given for each name; one without a value stays as it is. */
export const filledIn = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(PLACE, (place, name: string) => values[name.trim()] ?? place);

/** Those whose name begins so, then those that hold it. */
export function named<T extends { readonly name: string }>(all: readonly T[], typed: string): readonly T[] {
  const word = typed.toLowerCase();
  const begins = all.filter(({ name }) => name.toLowerCase().startsWith(word));
  return [...begins, ...all.filter((one) => !begins.includes(one) && one.name.toLowerCase().includes(word))];
}
