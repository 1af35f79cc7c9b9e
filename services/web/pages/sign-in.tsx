// Signing in, and replacing an initial password.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { changePassword, signIn } from "./account.ts";
import { ApiError } from "./api.ts";
import { Failure, failureText } from "./parts/failure.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { signInWays } from "./sign-in-ways.ts";
import { chooseLanguage, t, useLanguage } from "./text/text.ts";

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  const language = useLanguage();
  return (
    <main class="sign-in">
      <div class="card">
        <p class="mark">
          <img src="/icon.svg" alt="" width="40" height="40" />
          Owl
        </p>
        <h1>{title}</h1>
        {children}
      </div>
      <p class="languages">
        {(["ko", "en"] as const).map((code) => (
          <button
            key={code}
            type="button"
            class="link"
            lang={code}
            aria-pressed={language === code}
            onClick={() => chooseLanguage(code)}
          >
            {code === "ko" ? "한국어" : "English"}
          </button>
        ))}
      </p>
    </main>
  );
}

/** Runs a form's act: one at a time, its failure said in the form. */
export function useAct(): {
  readonly busy: boolean;
  readonly failed: string | null;
  readonly run: (act: () => Promise<void>) => void;
} {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  return {
    busy,
    failed,
    run(act) {
      if (busy) return;
      setBusy(true);
      setFailed(null);
      act().then(
        () => setBusy(false),
        (error: unknown) => {
          setBusy(false);
          setFailed(failureText(error));
        },
      );
    },
  };
}

export function SignIn({ expired }: { readonly expired: boolean }): VNode {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  /** null: none was asked for. */
  const [code, setCode] = useState<string | null>(null);
  const [ways] = useState(signInWays);
  const [hasForm, setHasForm] = useState(ways?.local ?? true);
  const act = useAct();
  const enter = async (): Promise<void> => {
    try {
      await signIn(name.trim(), password, code?.trim());
    } catch (error) {
      if (code !== null || !(error instanceof ApiError) || error.code !== "session.code") throw error;
      setCode("");
    }
  };
  return (
    <Card title={t("signIn.title")}>
      {expired && <p class="note">{t("signIn.expired")}</p>}
      {ways && <Lazy id={null} load={() => import("./provider-sign-in.tsx")} />}
      {!hasForm && (
        <button type="button" class="link" onClick={() => setHasForm(true)}>
          {t("signIn.admin")}
        </button>
      )}
      <form
        hidden={!hasForm}
        onSubmit={(event) => {
          event.preventDefault();
          act.run(enter);
        }}
      >
        <label>
          {t("signIn.name")}
          <input
            name="username"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          {t("signIn.password")}
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            required
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        {code !== null && (
          <>
            <p class="note">{t("factor.asked")}</p>
            <CodeField label={t("factor.anyCode")} value={code} onValue={setCode} />
          </>
        )}
        {act.failed && <Failure text={act.failed} />}
        <button type="submit" class="primary" disabled={act.busy}>
          {act.busy ? t("signIn.busy") : t("signIn.submit")}
        </button>
      </form>
    </Card>
  );
}

interface CodeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** Six digits of an app, or a recovery code. */
export function CodeField({ label, value, onValue }: CodeFieldProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <label>
      {label}
      <input
        ref={field}
        name="code"
        required
        minLength={6}
        maxLength={32}
        autocomplete="one-time-code"
        autocapitalize="none"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </label>
  );
}

/** Until it is changed the server answers nothing else. */
export function InitialPassword(): VNode {
  return (
    <Card title={t("password.initialTitle")}>
      <p class="note">{t("password.initialText")}</p>
      <PasswordForm onDone={() => undefined} />
    </Card>
  );
}

export function PasswordForm({ onDone }: { readonly onDone: () => void }): VNode {
  const [present, setPresent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const act = useAct();
  const differs = again !== "" && next !== again;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (next !== again) return;
        act.run(async () => {
          await changePassword(present, next);
          onDone();
        });
      }}
    >
      <label>
        {t("password.present")}
        <input
          type="password"
          autocomplete="current-password"
          required
          value={present}
          onInput={(event) => setPresent(event.currentTarget.value)}
        />
      </label>
      <label>
        {t("password.next")}
        <input
          type="password"
          autocomplete="new-password"
          minLength={10}
          required
          value={next}
          onInput={(event) => setNext(event.currentTarget.value)}
        />
      </label>
      <label>
        {t("password.again")}
        <input
          type="password"
          autocomplete="new-password"
          required
          value={again}
          aria-invalid={differs}
          onInput={(event) => setAgain(event.currentTarget.value)}
        />
      </label>
      {differs && <p class="bad">{t("password.differs")}</p>}
      {act.failed && <Failure text={act.failed} />}
      <button type="submit" class="primary" disabled={act.busy || differs}>
        {t("password.submit")}
      </button>
    </form>
  );
}
