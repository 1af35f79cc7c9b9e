// Describes a table by rules, for an installation without a model. Pure: catalogue facts in, sentences out.
// Invariant: what it says follows from the catalogue and the sample rows; it guesses no meaning.
import type { Language } from "../../config/language.ts";

interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly comment: string | null;
  readonly key: "primary" | "foreign" | null;
  readonly refersTo: string | null;
}

interface DescribedTable {
  readonly table: string;
  readonly kind: string;
  readonly rowsAbout: number | null;
  readonly comment: string | null;
  readonly columns: readonly DescribedColumn[];
  readonly samples: readonly (readonly (string | null)[])[];
}

export interface Description {
  readonly description: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly description: string }[];
}

const PHRASES = {
  en: {
    rows: (n: number) => `about ${n.toLocaleString("en")} rows`,
    columns: (n: number) => `${n} ${n === 1 ? "column" : "columns"}`,
    key: (names: string) => `identified by ${names}`,
    refers: (names: string) => `refers to ${names}`,
    primary: "identifies the row",
    foreign: (table: string) => `refers to ${table}`,
    optional: "may be empty",
    such: (values: string) => `for example ${values}`,
  },
  ko: {
    rows: (n: number) => `약 ${n.toLocaleString("ko")}행`,
    columns: (n: number) => `컬럼 ${n}개`,
    key: (names: string) => `식별자 ${names}`,
    refers: (names: string) => `${names} 참조`,
    primary: "행 식별자",
    foreign: (table: string) => `${table} 참조`,
    optional: "비어 있을 수 있음",
    such: (values: string) => `예: ${values}`,
  },
} as const;

/** One sentence for the table, one for each column. */
export function describeTable(table: DescribedTable, language: Language): Description {
  const say = PHRASES[language];
  const names = (columns: readonly DescribedColumn[]) => columns.map((one) => one.name).join(", ");
  const primary = table.columns.filter((one) => one.key === "primary");
  const targets = [...new Set(table.columns.flatMap((one) => (one.refersTo === null ? [] : [one.refersTo])))];
  const parts = [
    table.comment ?? `${table.table} (${table.kind})`,
    say.columns(table.columns.length),
    table.rowsAbout === null ? null : say.rows(table.rowsAbout),
    primary.length === 0 ? null : say.key(names(primary)),
    targets.length === 0 ? null : say.refers(targets.join(", ")),
  ];
  return {
    description: `${parts.filter((part) => part !== null).join("; ")}.`,
    columns: table.columns.map((column, index) => ({
      name: column.name,
      type: column.type,
      description: describeColumn(table, column, index, say),
    })),
  };
}

function describeColumn(
  table: DescribedTable,
  column: DescribedColumn,
  index: number,
  say: (typeof PHRASES)[Language],
): string {
  const values = [...new Set(table.samples.map((row) => row[index]).filter((value) => value !== null && value !== ""))];
  const parts = [
    column.comment,
    column.key === "primary" ? say.primary : null,
    column.refersTo === null ? null : say.foreign(column.refersTo),
    column.nullable ? say.optional : null,
    values.length === 0 ? null : say.such(values.slice(0, 3).join(", ")),
  ];
  return parts.filter((part) => part !== null).join("; ") || column.type;
}
