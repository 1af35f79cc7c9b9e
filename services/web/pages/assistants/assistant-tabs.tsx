// From assistants to prompts and back.

import type { VNode } from "preact";
import { follow } from "../routes.ts";
import { t } from "../text/text.ts";

export function AssistantTabs({ here }: { readonly here: "assistants" | "prompts" }): VNode {
  return (
    <nav class="tabs" aria-label={t("nav.assistants")}>
      {(["assistants", "prompts"] as const).map((name) => (
        <a key={name} href={`/${name}`} aria-current={name === here ? "page" : undefined} onClick={follow}>
          {t(`nav.${name}`)}
        </a>
      ))}
    </nav>
  );
}
