// Read-only links to a conversation: made here, listed and ended. Loaded when it is first asked for.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ShareMade, Shares } from "../../../core/wire/share.ts";
import { call } from "../api.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { momentText, t } from "../text/text.ts";

const DAYS = [1, 7, 30, 90];

interface ShareDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

export function ShareDialog({ id, onClose }: ShareDialogProps): VNode {
  const { value, failed, refresh } = useResource<Shares>(`/api/shares?conversationId=${id}`, { pollMs: 30_000 });
  const [days, setDays] = useState(7);
  const [forAnyone, setForAnyone] = useState(false);
  const [link, setLink] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(60_000);

  const attempt = (act: Promise<unknown>): void => {
    setRefused(null);
    act.then(refresh, (error: unknown) => setRefused(failureText(error)));
  };

  async function make(): Promise<void> {
    const made = await call<ShareMade>(`/api/conversations/${id}/shares`, {
      method: "POST",
      body: { days, forAnyone },
    });
    setLink(`${location.origin}/shared#${made.token}`);
  }

  return (
    <Dialog title={t("share.title")} onClose={onClose}>
      <p>{value?.links === "nobody" ? t("share.off") : t("share.text")}</p>
      {(refused ?? failed) && <Failure text={refused ?? failed ?? ""} />}
      {value && value.links !== "nobody" && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            attempt(make());
          }}
        >
          <label>
            {t("share.who")}
            <select onChange={(event) => setForAnyone(event.currentTarget.value === "anyone")}>
              <option value="team">{t("share.team")}</option>
              {value.links === "anyone" && <option value="anyone">{t("share.anyone")}</option>}
            </select>
          </label>
          <label>
            {t("share.for")}
            <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
              {DAYS.map((count) => (
                <option key={count} value={count}>
                  {t("share.days", { days: count })}
                </option>
              ))}
            </select>
          </label>
          <footer>
            <button type="submit" class="primary">
              {t("share.make")}
            </button>
          </footer>
        </form>
      )}
      {link !== null && (
        <div class="made-link" role="status">
          <label>
            {t("share.link")}
            <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
          </label>
          <p class="soft">
            {t("share.once")} <CopyButton text={link} />
          </p>
        </div>
      )}
      {value && value.items.length > 0 && (
        <>
          <h3>{t("share.links")}</h3>
          <ul class="links">
            {value.items.map((share) => (
              <li key={share.id}>
                <span>{t(share.forAnyone ? "share.anyone" : "share.team")}</span>
                <span class="soft">{t("share.until", { at: momentText(share.expiresAt, now) })}</span>
                <button type="button" onClick={() => attempt(call(`/api/shares/${share.id}`, { method: "DELETE" }))}>
                  {t("share.end")}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
