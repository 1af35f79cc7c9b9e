// A block of code with its language, its colours once it is complete, and a copy button.

import type { ComponentChild, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../parts/copy-button.tsx";
import { t } from "../text/text.ts";

interface CodeProps {
  readonly code: string;
  readonly language: string;
  /** More of it is coming: colours would jump with every line. */
  readonly isOpen?: boolean;
}

/** Colouring holds the page up for as long as it takes: longer code stays plain. */
const LONGEST_COLOURED = 40_000;

export function CodeBlock({ code, language, isOpen = false }: CodeProps): VNode {
  const [colours, setColours] = useState<{ code: string; pieces: readonly ComponentChild[] } | null>(null);

  useEffect(() => {
    if (isOpen || language === "" || code.length > LONGEST_COLOURED) return;
    let isGone = false;
    import("./colours.ts").then(
      ({ coloured }) => {
        const pieces = coloured(code, language.toLowerCase());
        if (!isGone && pieces) setColours({ code, pieces });
      },
      // No connection: plain code is code too.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [code, language, isOpen]);

  return (
    <figure class="code">
      <figcaption>
        <span>{language || t("code.plain")}</span>
        <CopyButton text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{colours?.code === code ? colours.pieces : code}</code>
      </pre>
    </figure>
  );
}
