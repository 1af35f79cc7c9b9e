// Rows as a Markdown table.

/** Columns and rows as Markdown; a cell is one line of at most 200 characters. */
export function markdownTable(columns: readonly unknown[], rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown) =>
    String(value ?? "")
      .replace(/\s+/g, " ")
      .replaceAll("|", "\\|")
      .slice(0, 200);
  const line = (cells: readonly unknown[]) => `| ${cells.map(cell).join(" | ")} |\n`;
  return `${line(columns)}| ${columns.map(() => "---").join(" | ")} |\n${rows.map(line).join("")}`;
}
