// Who did what from where, newest first.

import type { VNode } from "preact";
import type { AuditTrail } from "../../../core/wire/system.ts";
import { Awaited } from "../parts/awaited.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { momentText, t } from "../text/text.ts";

export function AuditView(): VNode {
  const { value, failed } = useResource<AuditTrail>("/api/admin/audit", { pollMs: 15_000 });
  const now = useNow(60_000);
  if (!value) return <Awaited failed={failed} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard
    <section class="card scroll" tabIndex={0} aria-label={t("admin.audit")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("audit.at")}</th>
            <th scope="col">{t("audit.who")}</th>
            <th scope="col">{t("audit.what")}</th>
            <th scope="col">{t("audit.from")}</th>
          </tr>
        </thead>
        <tbody>
          {value.items.map((entry) => (
            <tr key={entry.id}>
              <td>{momentText(entry.at, now)}</td>
              <td>{entry.account ?? "–"}</td>
              <td>
                <code>{entry.action}</code> {entry.target ?? ""}
              </td>
              <td>{entry.address ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
