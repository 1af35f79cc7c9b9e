// Sorting a table's rows by a column: numbers as numbers, the rest as people of that language sort.

export type Direction = "ascending" | "descending";

/** Indices of `rows` in the order of column `column`; equal ones keep their order. */
export function sortedRows(
  rows: readonly (readonly string[])[],
  column: number,
  direction: Direction,
  language: string,
): readonly number[] {
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const sign = direction === "ascending" ? 1 : -1;
  const keys = rows.map((row) => row[column] ?? "");
  const numbers = keys.map(numberOf);
  return rows
    .map((_, index) => index)
    .sort((left, right) => {
      const [a, b] = [numbers[left] ?? null, numbers[right] ?? null];
      // Empty and wordy cells come last in either direction when the column is one of numbers.
      if (a !== null && b !== null) return sign * (a - b) || left - right;
      if (a !== null || b !== null) return a !== null ? -1 : 1;
      return sign * collator.compare(keys[left] ?? "", keys[right] ?? "") || left - right;
    });
}

/** True when every cell that is not empty is a number (and one is not empty): such a column stands to the right. */
export function isNumberColumn(rows: readonly (readonly string[])[], column: number): boolean {
  const filled = rows.map((row) => (row[column] ?? "").trim()).filter((text) => text !== "");
  return filled.length > 0 && filled.every((text) => numberOf(text) !== null);
}

/** The figure a cell shows, or null. */
export function numberOf(text: string): number | null {
  const plain = text.trim().replace(/(?<=\d),(?=\d{3})/g, "");
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s?%?$/i.test(plain)) return null;
  return Number.parseFloat(plain);
}
