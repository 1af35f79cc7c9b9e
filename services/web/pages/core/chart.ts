// Which rows can be looked at as a chart, and its figures. Pure.

import { isNumberColumn, numberOf } from "./sort.ts";

export interface ChartOf {
  /** What the figures are told apart by: the name of its column and the word of each row. */
  readonly by: string;
  readonly labels: readonly string[];
  /** Seconds since 1970 where every label is a day or a moment, and in their order: then it is a line over time. */
  readonly times: readonly number[] | null;
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

const FEWEST_ROWS = 2;
const MOST_ROWS = 2_000;
/** As many colours as the pages have for series. */
const MOST_SERIES = 3;

/** The chart of a table: its first column that holds no figures, by up to three that do. Null: there is none to see. */
export function chartOf(head: readonly string[], rows: readonly (readonly string[])[]): ChartOf | null {
  if (rows.length < FEWEST_ROWS || rows.length > MOST_ROWS) return null;
  const columns = head.map((_, column) => column);
  const figures = columns.filter((column) => isNumberColumn(rows, column));
  const by = columns.find((column) => !figures.includes(column)) ?? columns[0];
  const shown = figures.filter((column) => column !== by).slice(0, MOST_SERIES);
  if (by === undefined || shown.length === 0) return null;
  const labels = rows.map((row) => row[by] ?? "");
  return {
    by: head[by] ?? "",
    labels,
    times: timesOf(labels),
    series: shown.map((column) => ({
      name: head[column] ?? "",
      values: rows.map((row) => numberOf(row[column] ?? "")),
    })),
  };
}

function timesOf(labels: readonly string[]): readonly number[] | null {
  const times = labels.map((label) => (/^\d{4}-\d{2}-\d{2}/.test(label) ? Date.parse(label) / 1000 : Number.NaN));
  const isTime = times.every((time, index) => Number.isFinite(time) && time > (times[index - 1] ?? -Infinity));
  return isTime ? times : null;
}
