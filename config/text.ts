// What every catalogue of texts is: each sentence in English and Korean, side by side, so that neither can be missing;
// one that names values is a function of them. `wordsIn` reads a catalogue in one language. Pure.

import { LANGUAGES, type Language } from "./language.ts";

/** English, Korean. */
type Pair = readonly [unknown, unknown];
export type Catalogue = { readonly [name: string]: Pair | Catalogue | ((...values: never[]) => Pair | Catalogue) };

/** A catalogue, or a part of it, in one language. */
export type Said<Words> = Words extends readonly [infer English, infer Korean]
  ? English | Korean
  : Words extends (...values: infer Values) => infer Made
    ? (...values: Values) => Said<Made>
    : { readonly [Name in keyof Words]: Said<Words[Name]> };

/** The whole catalogue in that language. */
export function wordsIn<Words>(words: Words, language: Language): Said<Words>;
export function wordsIn(words: unknown, language: Language): unknown {
  if (Array.isArray(words)) return words[LANGUAGES.indexOf(language)];
  if (typeof words === "function") return (...values: unknown[]) => wordsIn(words(...values), language);
  if (typeof words !== "object" || words === null) return words;
  return Object.fromEntries(Object.entries(words).map(([name, part]) => [name, wordsIn(part, language)]));
}

type ValuesOf<Entry> = Entry extends (values: infer Values) => unknown ? [values: Values] : [];

/** Says a sentence of a flat catalogue by its key, of the values it needs. */
export type Say<Words> = <Key extends keyof Words & string>(key: Key, ...values: ValuesOf<Words[Key]>) => string;

/** The sentences in the language that `chosen` names at that moment. */
export function sayOf<Words extends Readonly<Record<string, Pair | ((values: never) => Pair)>>>(
  words: Words,
  chosen: () => Language,
): Say<Words> {
  return (key, ...values) => {
    const entry = words[key] as Pair | ((...values: unknown[]) => Pair);
    const pair = typeof entry === "function" ? entry(...values) : entry;
    return String(pair[LANGUAGES.indexOf(chosen())]);
  };
}

/** The values of a sentence by name. */
export type With<Names extends string> = Readonly<Record<Names, string | number>>;

/** The number a sentence depends on. */
export interface Counted {
  readonly count: number;
}

let numbers: Intl.NumberFormat | null = null;

/** A number in groups of three digits, as Korean and English both write it. */
export const numberText = (value: number): string => {
  numbers ??= new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  return numbers.format(value);
};

/** `1 row`, `1,200 rows`. */
export const counted = (count: number, one: string, other: string): string =>
  `${numberText(count)} ${count === 1 ? one : other}`;
