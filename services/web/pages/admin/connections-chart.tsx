// Connections against the server's limit: declared sum, surge, peak and what is open now, as bars with one limit line.

import type { VNode } from "preact";
import type { ConnectionsStatus } from "../../../../config/control-api.ts";
import { numberText, t } from "../text/text.ts";

const WIDTH = 520;
const LABEL = 128;
const ROW = 34;

export function ConnectionsChart({ connections }: { readonly connections: ConnectionsStatus }): VNode {
  const { limit, steady, surge, peak, open, verdict } = connections;
  const bars = [
    { key: "connections.open", value: open },
    { key: "connections.peak", value: peak },
    { key: "connections.steady", value: steady },
    { key: "connections.surge", value: surge },
  ] as const;
  const scale = (WIDTH - LABEL - 60) / Math.max(limit, surge, peak, 1);
  const limitX = LABEL + limit * scale;
  const height = bars.length * ROW + 26;
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={t("connections.label", { steady, surge, peak, open, limit })}
      >
        {bars.map(({ key, value }, index) => {
          const y = index * ROW + 8;
          return (
            <g key={key}>
              <text x={LABEL - 10} y={y + 15} text-anchor="end">
                {t(key)}
              </text>
              <rect
                class={value > limit ? "bar over" : `bar ${index < 2 ? "measured" : "declared"}`}
                x={LABEL}
                y={y}
                width={Math.max(2, value * scale)}
                height={20}
                rx={4}
              />
              <text class="value" x={LABEL + Math.max(2, value * scale) + 7} y={y + 15}>
                {numberText(value)}
              </text>
            </g>
          );
        })}
        <line class="limit" x1={limitX} x2={limitX} y1={2} y2={bars.length * ROW + 4} />
        <text class="limit-text" x={limitX} y={height - 6} text-anchor="middle">
          {t("connections.limit", { limit: numberText(limit) })}
        </text>
      </svg>
      <figcaption class={verdict === "ok" ? "" : "bad"}>{t(`connections.${verdict}`)}</figcaption>
    </figure>
  );
}
