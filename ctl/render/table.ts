// Plain aligned columns: no frames, two blanks between, so that `awk` and eyes can both read them.

import type { Paint } from "./terminal.ts";
import { pad, widthOf } from "./width.ts";

/** Its title; numbers stand to the right. */
type Column = string | { readonly title: string; readonly align: "right" };

/** Lines of a table: titles, then rows. The last column is not padded. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], paint: Paint): string[] {
  const titles = columns.map((column) => (typeof column === "string" ? column : column.title));
  const widths = titles.map((title, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ""))),
  );
  const line = (cells: readonly string[], painted: (text: string) => string) =>
    cells
      .map((cell, index) => {
        const side = typeof columns[index] === "string" ? "left" : "right";
        const last = index === cells.length - 1 && side === "left";
        return painted(last ? cell : pad(cell, widths[index] ?? 0, side));
      })
      .join("  ")
      .trimEnd();
  return [line(titles, (title) => paint(title, "dim")), ...rows.map((row) => line(row, (text) => text))];
}
