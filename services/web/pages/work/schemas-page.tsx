import type { VNode } from "preact";
import { t } from "../text/text.ts";
export default function Page(_props: { readonly id: string | null }): VNode {
  return <p class="loading">{t("loading")}</p>;
}
