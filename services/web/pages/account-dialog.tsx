// What one holds of what is bounded here, and all of one's data to take along.

import type { VNode } from "preact";
import type { OwnUsage } from "../../core/wire/session.ts";
import { costText } from "./core/cost-text.ts";
import { sizeText } from "./core/duration.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Failure } from "./parts/failure.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { useResource } from "./resource.ts";
import { numberText, t } from "./text/text.ts";

const HELD = [
  "storedBytes",
  "conversations",
  "playbooks",
  "turns",
  "runs",
  "recordings",
  "uploads",
  "uploadBytes",
  "attachments",
] as const;

interface AccountDialogProps {
  readonly hasPassword: boolean;
  readonly onClose: () => void;
}

export function AccountDialog({ hasPassword, onClose }: AccountDialogProps): VNode {
  const { value, failed } = useResource<OwnUsage>("/api/account/usage", { pollMs: 10_000 });
  const shown = (kind: (typeof HELD)[number], held: number): string =>
    kind.endsWith("Bytes") ? sizeText(held) : String(held);
  return (
    <Dialog title={t("usage.title")} onClose={onClose}>
      {failed && <Failure text={failed} />}
      {!value && !failed && <p class="loading">{t("loading")}</p>}
      {value && (
        <table>
          <thead>
            <tr>
              <th scope="col">{t("usage.kind")}</th>
              <th scope="col">{t("usage.held")}</th>
              <th scope="col">{t("usage.limit")}</th>
            </tr>
          </thead>
          <tbody>
            {HELD.map((kind) => (
              <tr key={kind}>
                <th scope="row">{t(`usage.${kind}`)}</th>
                <td>{shown(kind, value.usage[kind])}</td>
                <td>{shown(kind, value.limits[kind])}</td>
              </tr>
            ))}
            {(value.month.budget !== null || value.month.cost > 0 || value.month.inputTokens > 0) && (
              <>
                <tr>
                  <th scope="row">{t("usage.tokens")}</th>
                  <td>{numberText(value.month.inputTokens + value.month.outputTokens)}</td>
                  <td>{t("usage.unbounded")}</td>
                </tr>
                <tr>
                  <th scope="row">{t("usage.cost")}</th>
                  <td>{costText(value.month.cost)}</td>
                  <td>{value.month.budget === null ? t("usage.unbounded") : costText(value.month.budget)}</td>
                </tr>
              </>
            )}
          </tbody>
        </table>
      )}
      <p>{t("usage.export")}</p>
      <p>
        <a class="button" href="/api/account/export" download>
          {t("usage.download")}
        </a>
      </p>
      {/* Whom an identity provider vouches for has the second factor there. */}
      {hasPassword && <Lazy id={null} load={() => import("./second-factor.tsx")} />}
      <Lazy id={null} load={() => import("./account-tokens.tsx")} />
    </Dialog>
  );
}
