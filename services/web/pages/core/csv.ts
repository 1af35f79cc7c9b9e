// Rows as CSV (RFC 4180) that spreadsheets open: quoted where needed, with a byte order mark for Korean in Excel.
// Invariant: no cell is run as a formula.

/** Text of a CSV file, lines ended by CRLF. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

function cell(value: string): string {
  // A number may begin with a sign; everything else that begins like a formula is disarmed.
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d.,]+%?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
