// What a read-only link shows: a conversation without anything to do in it. Who must be signed in for it does so here.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SharedConversation } from "../../core/wire/share.ts";
import { session } from "./account.ts";
import { ApiError, call } from "./api.ts";
import { Answer, PlainAnswer } from "./chat/turn.tsx";
import { type TurnView, viewOfTurn } from "./core/turn-view.ts";
import { Boundary } from "./parts/boundary.tsx";
import { CopyButton } from "./parts/copy-button.tsx";
import { Failure, failureText } from "./parts/failure.tsx";
import { Icon } from "./parts/icon.tsx";
import { useNow } from "./parts/now.ts";
import { SignIn } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { ownWords } from "./text/own-words.ts";
import { languageNow, momentText, t, useLanguage } from "./text/text.ts";

const PAGE_TURNS = 50;

type Shown =
  | { readonly state: "loading" | "signIn" | "gone" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "ready"; readonly shared: SharedConversation };

const read = (before: string | null): Promise<SharedConversation> =>
  call(`/api/shared?limit=${PAGE_TURNS}${before === null ? "" : `&before=${encodeURIComponent(before)}`}`, {
    headers: { "owl-share": location.hash.slice(1) },
  });

export default function SharedPage(): VNode {
  const account = useStore(session).state;
  const [shown, setShown] = useState<Shown>({ state: "loading" });

  const tell = (error: unknown): void => {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 404) setShown({ state: "gone" });
    else if (status === 401) setShown({ state: "signIn" });
    else setShown({ state: "failed", why: failureText(error) });
  };
  const load = (): void => void read(null).then((shared) => setShown({ state: "ready", shared }), tell);

  useEffect(() => {
    if (account === "loading" || shown.state === "ready") return;
    load();
  }, [account]);
  useEffect(() => {
    addEventListener("hashchange", load);
    return () => removeEventListener("hashchange", load);
  }, []);
  const title = shown.state === "ready" ? shown.shared.title : "";
  useEffect(() => {
    document.title = title === "" ? "Owl" : `${title.slice(0, 80)} · Owl`;
  }, [title]);

  async function more(shared: SharedConversation): Promise<void> {
    const page = await read(shared.earlier);
    setShown({ state: "ready", shared: { ...page, turns: [...page.turns, ...shared.turns] } });
  }

  if (shown.state === "signIn" && account !== "signedIn") return <SignIn expired={false} />;
  if (shown.state === "ready") {
    return <SharedView shared={shown.shared} onMore={() => void more(shown.shared).catch(tell)} />;
  }
  return (
    <main class="page empty">
      <h1>{shown.state === "gone" ? t("share.gone") : t("share.title")}</h1>
      {shown.state === "gone" && <p>{t("share.goneText")}</p>}
      {shown.state === "failed" && <Failure text={shown.why} onRetry={load} />}
      {(shown.state === "loading" || shown.state === "signIn") && <p class="loading">{t("loading")}</p>}
    </main>
  );
}

function SharedView({ shared, onMore }: { readonly shared: SharedConversation; readonly onMore: () => void }): VNode {
  const now = useNow(60_000);
  useLanguage();
  const at = momentText(shared.expiresAt, now);
  return (
    <main class="shared">
      <header class="column">
        <a class="mark" href="/">
          <img src="/icon.svg" alt="" width="26" height="26" />
          Owl
        </a>
        <h1>{shared.title || t("chat.new")}</h1>
        <p class="soft">{t("share.by", { name: shared.by, at })}</p>
      </header>
      <div class="column">
        {shared.earlier !== null && (
          <button type="button" class="earlier" onClick={onMore}>
            {t("chat.earlier")}
          </button>
        )}
        {shared.turns.map((turn) => (
          <SharedTurn key={turn.id} turn={viewOfTurn(turn)} now={now} />
        ))}
      </div>
    </main>
  );
}

function SharedTurn({ turn, now }: { readonly turn: TurnView; readonly now: number }): VNode {
  const language = languageNow();
  return (
    <article class="turn" data-state={turn.state}>
      <div class="question">
        {turn.attachments.length > 0 && (
          <ul class="attached" aria-label={t("attach.list")}>
            {turn.attachments.map((file) => (
              <li key={file.id}>
                <span class="file">
                  <Icon name="file" />
                  <span class="name">{file.name}</span>
                </span>
              </li>
            ))}
          </ul>
        )}
        <p class="bubble">{turn.text}</p>
        <div class="actions">
          <span class="when">{momentText(turn.createdAt, now)}</span>
        </div>
      </div>
      <div class="answer">
        <Boundary of={turn.answer} plain={<PlainAnswer text={turn.answer} />}>
          <Answer turn={turn} language={language} />
        </Boundary>
        {turn.state === "failed" && (
          <p class="soft">{turn.message === null ? t("turn.failed") : ownWords(turn.message, language)}</p>
        )}
        {turn.state === "stopped" && <p class="stopped">{t("turn.stopped")}</p>}
        {turn.answer !== "" && (
          <div class="actions">
            <CopyButton text={turn.answer} />
          </div>
        )}
      </div>
    </article>
  );
}
