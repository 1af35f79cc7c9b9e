// A table of an answer or a tool: sorted at a click on its head, copied, downloaded as CSV, looked at as a chart, scrolled
// within itself.

import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type ChartOf, chartOf } from "../core/chart.ts";
import { csvOf } from "../core/csv.ts";
import { type Direction, isNumberColumn, sortedRows } from "../core/sort.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { saveFile } from "../parts/save-file.ts";
import { languageNow, t } from "../text/text.ts";

interface DataTableProps {
  readonly head: readonly string[];
  /** Plain text of each cell: what is sorted and downloaded. */
  readonly rows: readonly (readonly string[])[];
  /** What a cell shows; its plain text when absent. */
  readonly cells?: (row: number, column: number) => ComponentChildren;
  readonly align?: readonly ("left" | "center" | "right" | null)[];
  readonly name?: string;
}

interface Order {
  readonly column: number;
  readonly direction: Direction;
}

interface ChartView {
  readonly Chart: ComponentType<{ readonly chart: ChartOf }>;
}

/** As a spreadsheet takes it from the clipboard. */
const sheetText = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map((cell) => cell.replace(/\s/g, " ")).join("\t")).join("\n");

const SHOWN_ROWS = 200;

export function DataTable({ head, rows, cells, align: given = [], name = "table" }: DataTableProps): VNode {
  const align = head.map((_, column) => given[column] ?? (isNumberColumn(rows, column) ? "right" : null));
  const [order, setOrder] = useState<Order | null>(null);
  const [all, setAll] = useState(false);
  const chart = useMemo(() => chartOf(head, rows), [head, rows]);
  const [view, setView] = useState<ChartView | "failed" | null>(null);
  const indices = order
    ? sortedRows(rows, order.column, order.direction, languageNow())
    : rows.map((_, index) => index);
  const shown = all ? indices : indices.slice(0, SHOWN_ROWS);

  function turn(column: number): void {
    if (order?.column !== column) setOrder({ column, direction: "ascending" });
    else if (order.direction === "ascending") setOrder({ column, direction: "descending" });
    else setOrder(null);
  }

  function toggleChart(): void {
    if (view !== null && view !== "failed") setView(null);
    else showChart();
  }

  function showChart(): void {
    import("./chart.tsx").then(
      (module) => setView({ Chart: module.default }),
      () => setView("failed"),
    );
  }

  return (
    <figure class="table">
      {chart !== null && view !== null && view !== "failed" && <view.Chart chart={chart} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={t("table.label")}>
        <table>
          <thead>
            <tr>
              {head.map((title, column) => (
                <th
                  key={column}
                  scope="col"
                  class={align[column] ? `to-${align[column]}` : undefined}
                  aria-sort={order?.column === column ? order.direction : "none"}
                >
                  <button type="button" onClick={() => turn(column)} title={t("table.sort")}>
                    {title}
                    <span class="order" aria-hidden="true">
                      {order?.column === column ? (order.direction === "ascending" ? "▲" : "▼") : ""}
                    </span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row}>
                {head.map((_, column) => (
                  <td key={column} class={align[column] ? `to-${align[column]}` : undefined}>
                    {cells ? cells(row, column) : rows[row]?.[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <figcaption>
        <span>{t("table.rows", { count: rows.length })}</span>
        {!all && rows.length > SHOWN_ROWS && (
          <button type="button" class="link" onClick={() => setAll(true)}>
            {t("table.all")}
          </button>
        )}
        {view === "failed" && <span class="bad">{t("chart.failed")}</span>}
        {chart !== null && (
          <button type="button" class="link" aria-pressed={view !== null && view !== "failed"} onClick={toggleChart}>
            {t(view === null || view === "failed" ? "table.chart" : "table.noChart")}
          </button>
        )}
        <CopyButton text={() => sheetText([head, ...rows])} label={t("table.copy")} />
        <button type="button" class="link" onClick={() => saveFile(`${name}.csv`, csvOf([head, ...rows]), "text/csv")}>
          {t("table.csv")}
        </button>
      </figcaption>
    </figure>
  );
}
