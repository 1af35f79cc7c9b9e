// A list of jobs that is read again while somebody reads it: rows change in place, and none moves. Pure.

interface MergedRows<Row> {
  /** The rows shown, in the order they were shown, each as it is now. */
  readonly rows: readonly Row[];
  /** Those that the list no longer holds. */
  readonly left: ReadonlySet<string>;
  /** How many rows came that are not shown yet. */
  readonly came: number;
}

/**
 * `fresh` is the list from its start as it is now. `isWhole`: it is all of it. `showsAll`: what is shown was all of it,
 * so that whatever is not known came since; else rows below the last known one are only the next page.
 */
export function mergeRows<Row extends { readonly id: string }>(
  shown: readonly Row[],
  fresh: readonly Row[],
  { isWhole, showsAll }: { readonly isWhole: boolean; readonly showsAll: boolean },
): MergedRows<Row> {
  const now = new Map(fresh.map((row) => [row.id, row]));
  const known = new Set(shown.map((row) => row.id));
  const lastShown = shown.findLastIndex((row) => now.has(row.id));
  const lastKnown = fresh.findLastIndex((row) => known.has(row.id));
  const left = shown.filter((row, at) => !now.has(row.id) && (isWhole || at < lastShown)).map((row) => row.id);
  const came = fresh.filter((row, at) => !known.has(row.id) && (showsAll || at < lastKnown)).length;
  return { rows: shown.map((row) => now.get(row.id) ?? row), left: new Set(left), came };
}
