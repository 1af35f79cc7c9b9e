// A block of code with its language and a copy button.

import type { VNode } from "preact";
import { CopyButton } from "../parts/copy-button.tsx";
import { t } from "../text/text.ts";

export function CodeBlock({ code, language }: { readonly code: string; readonly language: string }): VNode {
  return (
    <figure class="code">
      <figcaption>
        <span>{language || t("code.plain")}</span>
        <CopyButton text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
