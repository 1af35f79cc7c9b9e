// A formula as MathML, which every present browser draws. Invariants: the library is loaded with the first formula and
// makes its elements itself, so that no markup of an answer is ever read as HTML; what it cannot read is shown as it is.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

type Draw = typeof import("temml").default.render;

/** Longer ones would hold the page up; they are shown as they were written. */
const LONGEST = 4_000;

let loaded: Draw | null = null;
let loading: Promise<Draw> | null = null;

function load(): Promise<Draw> {
  loading ??= import("temml").then((module) => {
    loaded = module.default.render;
    return loaded;
  });
  return loading;
}

interface FormulaProps {
  readonly source: string;
  readonly isDisplay: boolean;
}

export function FormulaView({ source, isDisplay }: FormulaProps): VNode {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState<string | null>(null);

  useLayoutEffect(() => {
    let isGone = false;
    const draw = (render: Draw): void => {
      if (isGone || !place.current) return;
      try {
        render(source, place.current, {
          displayMode: isDisplay,
          throwOnError: true,
          maxExpand: 200,
          maxSize: [20, 100],
        });
        setDrawn(source);
      } catch {
        place.current.replaceChildren();
        setDrawn(null);
      }
    };
    if (source.length <= LONGEST) {
      if (loaded) draw(loaded);
      // Without the library (no connection) the formula stays readable as it is.
      else load().then(draw, () => undefined);
    }
    return () => {
      isGone = true;
    };
  }, [source, isDisplay]);

  return (
    <span class={isDisplay ? "formula display" : "formula"}>
      <span ref={place} />
      {drawn !== source && <code>{source}</code>}
    </span>
  );
}
