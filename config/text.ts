// What every catalogue of texts is: sentences, and functions that make one of the values they name. The English catalogue
// is the type of the other, so the compiler refuses a sentence or a value that is missing. Pure.

type Entry = string | ((values: never) => string);
type ValuesOf<E> = E extends (values: infer V) => string ? [values: V] : [];

/** Says the sentence of a key, of the values it needs. */
export type Say<Catalogue> = <Key extends keyof Catalogue>(key: Key, ...values: ValuesOf<Catalogue[Key]>) => string;

/** The values of a sentence by name. */
export type With<Names extends string> = Readonly<Record<Names, string | number>>;

/** The sentences of the catalogue that `chosen` names at that moment. */
export function sayOf<Catalogue extends { readonly [Key in keyof Catalogue]: Entry }>(
  chosen: () => Catalogue,
): Say<Catalogue> {
  return (key, ...values) => {
    const entry: Entry = chosen()[key];
    return typeof entry === "string" ? entry : (entry as (...values: unknown[]) => string)(...values);
  };
}

/** The number a sentence depends on. */
export interface Counted {
  readonly count: number;
}

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** A number in groups of three digits, as Korean and English both write it. */
export const numberText = (value: number): string => numbers.format(value);

/** `1 row`, `1,200 rows`. */
export const counted = (count: number, one: string, other: string): string =>
  `${numberText(count)} ${count === 1 ? one : other}`;
