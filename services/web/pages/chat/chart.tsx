// A table's figures as a chart: lines over time, bars by name. Loaded when somebody asks for one; the table stays below.

import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import type { ChartOf } from "../core/chart.ts";
import { languageNow, t } from "../text/text.ts";

const HEIGHT_PX = 240;
const SERIES_COLOURS = ["--series-1", "--series-2", "--series-3"] as const;

export default function Chart({ chart }: { readonly chart: ChartOf }): VNode {
  const place = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const xs = chart.times ?? chart.labels.map((_, index) => index);
    const data = [[...xs], ...chart.series.map(({ values }) => [...values])] as UPlot.AlignedData;
    const drawn = new UPlot(optionsOf(chart, element.clientWidth), data, element);
    const sized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sized.observe(element);
    return () => {
      sized.disconnect();
      drawn.destroy();
    };
  }, [chart]);

  const values = chart.series.map(({ name }) => name).join(", ");
  return <div class="chart" ref={place} role="img" aria-label={t("chart.label", { values, by: chart.by })} />;
}

function optionsOf(chart: ChartOf, width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const figure = new Intl.NumberFormat(languageNow(), { maximumFractionDigits: 6 });
  const short = new Intl.NumberFormat(languageNow(), { notation: "compact", maximumFractionDigits: 2 });
  const axis = { stroke: colour("--ink-soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const bars = UPlot.paths.bars?.({ size: [0.6, 60] });
  const label = (index: number): string => chart.labels[index] ?? "";
  return {
    width,
    height: HEIGHT_PX,
    scales: { x: { time: chart.times !== null, ...(chart.times ? {} : { range: [-0.5, chart.labels.length - 0.5] }) } },
    axes: [
      chart.times ? axis : { ...axis, space: 70, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500], values: labelsAt(label) },
      { ...axis, size: 60, values: (_plot, ticks) => ticks.map((tick) => short.format(tick)) },
    ],
    series: [
      { label: chart.by, ...(chart.times ? {} : { value: (_plot, at) => (at === null ? "–" : label(at)) }) },
      ...chart.series.map(({ name }, index): UPlot.Series => {
        const stroke = colour(SERIES_COLOURS[index] ?? SERIES_COLOURS[0]);
        // Several bars in one place would hide each other: there the names are joined by lines.
        const isBar = chart.times === null && chart.series.length === 1 && bars !== undefined;
        return {
          label: name,
          stroke,
          width: 2,
          value: (_plot, value) => (value === null ? "–" : figure.format(value)),
          ...(isBar ? { fill: stroke, paths: bars, points: { show: false } } : {}),
        };
      }),
    ],
  };
}

function labelsAt(label: (index: number) => string): UPlot.Axis.DynamicValues {
  return (_plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? label(tick).slice(0, 14) : ""));
}
