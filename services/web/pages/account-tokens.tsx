// API tokens of one's own: what they may, until when, and the making of one, which is shown once.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { TOKEN_SCOPES, type TokenScope } from "../../core/token-scopes.ts";
import type { Token, TokenMade, Tokens } from "../../core/wire/token.ts";
import { session } from "./account.ts";
import { call } from "./api.ts";
import { CopyButton } from "./parts/copy-button.tsx";
import { Confirm } from "./parts/dialog.tsx";
import { Failure } from "./parts/failure.tsx";
import { useNow } from "./parts/now.ts";
import { OwnPassword } from "./parts/own-password.tsx";
import { useResource } from "./resource.ts";
import { useAct } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { momentText, t } from "./text/text.ts";

const DAYS = [30, 90, 365] as const;

export default function AccountTokens(): VNode {
  const { value, failed, refresh } = useResource<Tokens>("/api/account/tokens", { pollMs: 60_000 });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<TokenMade | null>(null);
  const [leaving, setLeaving] = useState<Token | null>(null);
  const revoking = useAct();
  const now = useNow(60_000);
  return (
    <section class="tokens" aria-label={t("tokens.title")}>
      <h3>{t("tokens.title")}</h3>
      <p>{t("tokens.text")}</p>
      {failed && <Failure text={failed} />}
      {revoking.failed && <Failure text={revoking.failed} />}
      {made && (
        <div role="status">
          <p>{t("tokens.made")}</p>
          <p class="secret">
            <code>{made.token}</code>
            <CopyButton text={made.token} />
          </p>
        </div>
      )}
      {value?.items.length === 0 && <p>{t("tokens.none")}</p>}
      <ul>
        {value?.items.map((token) => (
          <li key={token.id}>
            <div>
              <strong>{token.name}</strong> <code>{token.prefix}…</code>
              <p>{tokenText(token, now)}</p>
            </div>
            <button type="button" class="link" onClick={() => setLeaving(token)}>
              {t("tokens.revoke")}
            </button>
          </li>
        ))}
      </ul>
      {isMaking ? (
        <NewToken
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMade(token);
            setMaking(false);
            refresh();
          }}
        />
      ) : (
        <button type="button" onClick={() => setMaking(true)}>
          {t("tokens.add")}
        </button>
      )}
      {leaving && (
        <Confirm
          title={t("tokens.revokeTitle", { name: leaving.name })}
          text={t("tokens.revokeText")}
          action={t("tokens.revoke")}
          keep={t("tokens.keep")}
          danger
          onClose={() => setLeaving(null)}
          onConfirm={() => {
            setLeaving(null);
            revoking.run(async () => {
              await call(`/api/account/tokens/${leaving.id}`, { method: "DELETE" });
              if (made?.id === leaving.id) setMade(null);
              refresh();
            });
          }}
        />
      )}
    </section>
  );
}

function tokenText({ scopes, expiresAt, usedAt }: Token, now: number): string {
  return [
    scopes.join(", "),
    Date.parse(expiresAt) < now ? t("tokens.expired") : t("tokens.until", { when: momentText(expiresAt, now) }),
    usedAt === null ? t("tokens.unused") : t("tokens.used", { when: momentText(usedAt, now) }),
  ].join(" · ");
}

function NewToken({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (token: TokenMade) => void;
}): VNode {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly TokenScope[]>([]);
  const [days, setDays] = useState(90);
  const [password, setPassword] = useState("");
  const who = useStore(session);
  const hasPassword = who.state !== "signedIn" || who.account.hasPassword;
  const act = useAct();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const body = { name: name.trim(), scopes, expiresInDays: days, ...(hasPassword ? { password } : {}) };
        act.run(async () => onMade(await call<TokenMade>("/api/account/tokens", { method: "POST", body })));
      }}
    >
      <label>
        {t("tokens.name")}
        <input
          required
          maxLength={64}
          pattern=".*\S.*"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <fieldset>
        <legend>{t("tokens.scopes")}</legend>
        {TOKEN_SCOPES.map((scope) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) =>
                setScopes(event.currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
            {t(`tokens.scope.${scope}`)}
          </label>
        ))}
      </fieldset>
      <label>
        {t("tokens.expiry")}
        <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {t("tokens.days", { days: count })}
            </option>
          ))}
        </select>
      </label>
      {hasPassword && <OwnPassword value={password} onInput={setPassword} />}
      {act.failed && <Failure text={act.failed} />}
      <footer>
        <button type="button" onClick={onClose}>
          {t("cancel")}
        </button>
        <button type="submit" class="primary" disabled={act.busy || scopes.length === 0}>
          {t("tokens.make")}
        </button>
      </footer>
    </form>
  );
}
