// Pages by key: the condition is on the very columns the list is ordered by, so that a deep page costs what the first
// one does. Invariant: the condition is one range of an index also in a plan made for any values (no `OR … IS NULL`).

/** Sort key (microseconds since 1970, as text) and id of the last row of the page before; null: the first page. */
export type Before = { readonly cursor: string; readonly id: string } | null;

/** Of a timestamptz column, as `beforeText` reads it. */
export const cursorText = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint::text`;

/** Rows after the mark in newest-first order. `cursorAt`, `idAt`: the statement's parameters. */
export function beforeText(column: string, id: string, cursorAt: string, idAt: string): string {
  return `(${column}, ${id}) < (
    coalesce(timestamptz 'epoch' + ${cursorAt}::bigint * interval '1 microsecond', 'infinity'),
    coalesce(${idAt}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`;
}

export const beforeValues = (before: Before): readonly [string | null, string | null] => [
  before?.cursor ?? null,
  before?.id ?? null,
];
