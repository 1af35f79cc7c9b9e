// Plain aligned columns: no frames, two blanks between, so that `awk` and eyes can both read them.

import { pad, widthOf } from "./width.ts";

interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

/** Lines of a table: titles, then rows. The last column is not padded. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintTitle: (text: string) => string,
): string[] {
  const widths = columns.map((column, index) =>
    Math.max(widthOf(column.title), ...rows.map((row) => widthOf(row[index] ?? ""))),
  );
  const line = (cells: readonly string[], paint: (text: string) => string) =>
    cells
      .map((cell, index) => {
        const side = columns[index]?.align === "right" ? "right" : "left";
        const last = index === cells.length - 1 && side === "left";
        return paint(last ? cell : pad(cell, widths[index] ?? 0, side));
      })
      .join("  ")
      .trimEnd();
  return [
    line(
      columns.map((column) => column.title),
      paintTitle,
    ),
    ...rows.map((row) => line(row, (text) => text)),
  ];
}
