// One's second factor: on with a secret and a code of it, off with the password and a code.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { RecoveryCodes, SecondFactor, SecondFactorBegun } from "../../core/wire/second-factor.ts";
import { call } from "./api.ts";
import { CopyButton } from "./parts/copy-button.tsx";
import { Failure } from "./parts/failure.tsx";
import { useNow } from "./parts/now.ts";
import { OwnPassword } from "./parts/own-password.tsx";
import { useResource } from "./resource.ts";
import { CodeField, useAct } from "./sign-in.tsx";
import { momentText, t } from "./text/text.ts";

const PATH = "/api/account/second-factor";
const post = <T,>(path: string, body: object): Promise<T> => call<T>(path, { method: "POST", body });

export default function SecondFactorSection(): VNode {
  const { value, failed, refresh } = useResource<SecondFactor>(PATH, { pollMs: 60_000 });
  const [asks, setAsks] = useState(false);
  const [begun, setBegun] = useState<SecondFactorBegun | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const now = useNow(60_000);
  const close = (): void => {
    setAsks(false);
    setBegun(null);
    refresh();
  };
  return (
    <section class="tokens" aria-label={t("factor.title")}>
      <h3>{t("factor.title")}</h3>
      {failed && <Failure text={failed} />}
      {value && (
        <p>
          {value.since === null
            ? t("factor.off")
            : t("factor.on", { when: momentText(value.since, now), left: value.recoveryCodes })}
        </p>
      )}
      {codes && (
        <div role="status">
          <p>{t("factor.recovery")}</p>
          <pre class="secret">{codes.join("\n")}</pre>
          <CopyButton text={codes.join("\n")} />{" "}
          <button type="button" onClick={() => setCodes(null)}>
            {t("factor.kept")}
          </button>
        </div>
      )}
      {value && !asks && !codes && (
        <button type="button" onClick={() => setAsks(true)}>
          {value.since === null ? t("factor.turnOn") : t("factor.turnOff")}
        </button>
      )}
      {asks && value?.since === null && !begun && (
        <Ask
          wants={["password"]}
          action={t("factor.turnOn")}
          onClose={close}
          act={async ({ password }) => setBegun(await post<SecondFactorBegun>(PATH, { password }))}
        />
      )}
      {begun && (
        <>
          <Secret begun={begun} />
          <Ask
            wants={["code"]}
            action={t("factor.confirm")}
            onClose={close}
            act={async ({ code }) => {
              setCodes((await post<RecoveryCodes>(`${PATH}/confirm`, { code })).recoveryCodes);
              close();
            }}
          />
        </>
      )}
      {asks && value?.since && (
        <Ask
          wants={["password", "anyCode"]}
          action={t("factor.turnOff")}
          onClose={close}
          act={async (body) => {
            await post(`${PATH}/remove`, body);
            close();
          }}
        />
      )}
    </section>
  );
}

function Secret({ begun }: { readonly begun: SecondFactorBegun }): VNode {
  const [qr, setQr] = useState<string | null>(null);
  // Whoever has the app on this very phone, or types, never loads what draws it.
  const draw = async (): Promise<void> => setQr((await import("qr")).default(begun.uri, "svg"));
  return (
    <>
      <p>{t("factor.secret")}</p>
      <p class="secret">
        <code>{begun.secret.match(/.{1,4}/g)?.join(" ")}</code>
        <CopyButton text={begun.secret} />
      </p>
      <p>
        <a href={begun.uri}>{t("factor.open")}</a>
      </p>
      {qr === null ? (
        <button type="button" onClick={() => void draw()}>
          {t("factor.showQr")}
        </button>
      ) : (
        <img class="qr" alt={t("factor.qr")} src={`data:image/svg+xml,${encodeURIComponent(qr)}`} />
      )}
    </>
  );
}

interface AskProps {
  readonly wants: readonly ("password" | "code" | "anyCode")[];
  readonly action: string;
  readonly onClose: () => void;
  readonly act: (given: { readonly password: string; readonly code: string }) => Promise<void>;
}

function Ask({ wants, action, onClose, act }: AskProps): VNode {
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const acting = useAct();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        acting.run(() => act({ password, code: code.trim() }));
      }}
    >
      {wants.includes("password") && <OwnPassword value={password} onInput={setPassword} />}
      {(wants.includes("code") || wants.includes("anyCode")) && (
        <CodeField
          label={wants.includes("code") ? t("factor.code") : t("factor.anyCode")}
          value={code}
          onValue={setCode}
        />
      )}
      {acting.failed && <Failure text={acting.failed} />}
      <footer>
        <button type="button" onClick={onClose}>
          {t("cancel")}
        </button>
        <button type="submit" class="primary" disabled={acting.busy}>
          {action}
        </button>
      </footer>
    </form>
  );
}
