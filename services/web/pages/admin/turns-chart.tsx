// How long turns took, as a histogram with the finish budget as a line, and the percentiles by outcome.

import type { VNode } from "preact";
import type { HistogramBar, System } from "../../../core/wire/system.ts";
import { durationText } from "../core/duration.ts";
import { languageNow, numberText, t } from "../text/text.ts";

const WIDTH = 520;
const HEIGHT = 150;
const BASE = 116;

export function TurnsChart({ turns }: { readonly turns: System["turns"] }): VNode {
  const language = languageNow();
  const bars = turns.histogram ?? [];
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  return (
    <>
      {total > 0 && <Histogram bars={bars} finishMs={turns.finishMs} />}
      <p class="soft">{t("turns.budget", { finish: durationText(turns.finishMs, language) })}</p>
      {turns.outcomes.length === 0 ? (
        <p class="soft">{t("turns.none")}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{t("turns.outcome")}</th>
              <th scope="col" class="to-right">
                {t("turns.count")}
              </th>
              {(["p50", "p95", "p99"] as const).map((name) => (
                <th key={name} scope="col" class="to-right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {turns.outcomes.map((row) => (
              <tr key={row.outcome}>
                <td>{t(`outcome.${row.outcome}`)}</td>
                <td class="to-right">{numberText(row.count)}</td>
                {([row.p50Ms, row.p95Ms, row.p99Ms] as const).map((ms, index) => (
                  <td key={index} class={ms > turns.finishMs ? "to-right bad" : "to-right"}>
                    {durationText(ms, language)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Histogram({ bars, finishMs }: { readonly bars: readonly HistogramBar[]; readonly finishMs: number }): VNode {
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const step = (WIDTH - 8) / bars.length;
  const edge = bars.findIndex((bar) => bar.fromMs >= finishMs);
  const limitX = edge < 0 ? null : 4 + edge * step;
  const name = (bar: HistogramBar): string => shortText(bar.toMs ?? bar.fromMs, bar.toMs === null);
  const label = bars
    .filter((bar) => bar.count > 0)
    .map((bar) => `${name(bar)}: ${bar.count}`)
    .join(", ");
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("turns.histogram", { bars: label })}>
        {bars.map((bar, index) => {
          const height = bar.count === 0 ? 1 : Math.max(3, (bar.count / most) * (BASE - 24));
          const x = 4 + index * step;
          return (
            <g key={bar.fromMs}>
              <title>{t("turns.bar", { count: bar.count, upTo: name(bar) })}</title>
              <rect
                class={bar.fromMs >= finishMs ? "bar over" : "bar measured"}
                x={x + 2}
                y={BASE - height}
                width={step - 4}
                height={height}
                rx={2}
              />
              {bar.count > 0 && (
                <text class="value" x={x + step / 2} y={BASE - height - 5} text-anchor="middle">
                  {numberText(bar.count)}
                </text>
              )}
              <text x={x + step / 2} y={BASE + 15} text-anchor="middle">
                {name(bar)}
              </text>
            </g>
          );
        })}
        {limitX !== null && (
          <>
            <line class="limit" x1={limitX} x2={limitX} y1={4} y2={BASE} />
            <text class="limit-text" x={limitX - 4} y={HEIGHT - 4} text-anchor="middle">
              {t("turns.finish")}
            </text>
          </>
        )}
      </svg>
    </figure>
  );
}

/** `≤3s`, `≤2m`, `>30m`. */
function shortText(ms: number, isOpen: boolean): string {
  const seconds = ms / 1000;
  const text = seconds < 60 || seconds % 60 !== 0 ? `${seconds}s` : `${seconds / 60}m`;
  return `${isOpen ? ">" : "≤"}${text}`;
}
