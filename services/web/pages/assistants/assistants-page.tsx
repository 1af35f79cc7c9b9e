// Assistants: the list with what stands before every question, and one of them with its editor.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Assistant, Assistants, GivenInstructions, NewAssistant } from "../../../core/wire/assistant.ts";
import { session } from "../account.ts";
import { call } from "../api.ts";
import { chooseOfNew } from "../chat/new-chat.ts";
import { Awaited, BackTo } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useKeyOf } from "../parts/key-of.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { useStore } from "../store.ts";
import { a } from "../text/assistant-words.ts";
import { t } from "../text/text.ts";
import { AssistantEditor } from "./assistant-editor.tsx";
import { AssistantTabs } from "./assistant-tabs.tsx";

export default function AssistantsPage({ id }: { readonly id: string | null }): VNode {
  if (id === null) return <AssistantList />;
  if (id === "new") return <NewOne />;
  return <AssistantView key={id} id={id} />;
}

const Back = (): VNode => <BackTo href="/assistants" name={t("nav.assistants")} />;

function useIsAdministrator(): boolean {
  const now = useStore(session);
  return now.state === "signedIn" && now.account.role === "administrator";
}

function AssistantList(): VNode {
  const { value, failed, refresh } = useResource<Assistants>("/api/assistants", { pollMs: 30_000 });
  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.assistants")}</h1>
        <AssistantTabs here="assistants" />
        <p>{a("what")}</p>
      </header>
      <p>
        <a class="button primary" href="/assistants/new" onClick={follow}>
          {a("new")}
        </a>
      </p>
      {!value && <Awaited failed={failed} onRetry={refresh} />}
      {value?.items.length === 0 && <p class="none">{a("none")}</p>}
      <ul class="work-list">
        {value?.items.map((one) => (
          <li key={one.id}>
            <a href={`/assistants/${one.id}`} onClick={follow}>
              {one.name}
            </a>
            {!one.own && <span class="soft">{a("by", { name: one.by })}</span>}
            <span class="soft">{one.shared ? a("team") : a("mine")}</span>
          </li>
        ))}
      </ul>
      <Given />
    </section>
  );
}

/** What the model is told before every question. */
function Given(): VNode {
  const { value, failed, refresh } = useResource<GivenInstructions>("/api/instructions", { pollMs: 600_000 });
  const isAdministrator = useIsAdministrator();
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  return (
    <>
      <InstructionsForm title={a("own")} hint={a("ownHint")} text={value.own} path="/api/account/instructions" />
      {isAdministrator && (
        <InstructionsForm
          title={a("everyone")}
          hint={a("everyoneHint")}
          text={value.everyone}
          path="/api/admin/instructions"
        />
      )}
      {!isAdministrator && value.everyone !== "" && (
        <details class="card">
          <summary>{a("everyoneTold")}</summary>
          <p class="raw">{value.everyone}</p>
        </details>
      )}
    </>
  );
}

interface InstructionsProps {
  readonly title: string;
  readonly hint: string;
  readonly text: string;
  readonly path: string;
}

function InstructionsForm({ title, hint, text, path }: InstructionsProps): VNode {
  const [value, setValue] = useState(text);
  const [outcome, setOutcome] = useState<"saved" | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => setOutcome(null), [value]);

  function save(): void {
    setFailed(null);
    call(path, { method: "PUT", body: { text: value } }).then(
      () => setOutcome("saved"),
      (error: unknown) => setFailed(failureText(error)),
    );
  }

  return (
    <form
      class="card instructions"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label>
        <strong>{title}</strong>
        <span class="soft">{hint}</span>
        <textarea rows={4} maxLength={8_000} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      {failed && <Failure text={failed} />}
      <div class="actions">
        <button type="submit">{t("save")}</button>
        <span role="status">{outcome && a(outcome)}</span>
      </div>
    </form>
  );
}

/** Saves a new one; pressed twice it is one. */
function useSaveNew(): (body: NewAssistant) => Promise<void> {
  const keyOf = useKeyOf();
  return async (body) => {
    const made = await call<Assistant>("/api/assistants", {
      method: "POST",
      body,
      key: keyOf(body),
    });
    go(`/assistants/${made.id}`, "replace");
  };
}

function NewOne(): VNode {
  const save = useSaveNew();
  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{a("new")}</h1>
      </header>
      <AssistantEditor assistant={{ name: "", instructions: "" }} onSave={save} />
    </section>
  );
}

function AssistantView({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<Assistant>(`/api/assistants/${id}`, { pollMs: 600_000 });
  const [isCopy, setCopy] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [saved, setSaved] = useState(false);
  const isAdministrator = useIsAdministrator();
  const saveNew = useSaveNew();
  if (missing) return <p class="none">{a("missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  const { name, model, starters } = value;

  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{name}</h1>
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => {
              chooseOfNew({ id, name, model, ...(starters.length > 0 ? { starters } : {}) });
              go("/");
            }}
          >
            {a("ask")}
          </button>
          {!value.own && (
            <button type="button" onClick={() => setCopy(true)}>
              {a("copy")}
            </button>
          )}
          {(value.own || isAdministrator) && (
            <button type="button" class="danger" onClick={() => setDeleting(true)}>
              {t("delete")}
            </button>
          )}
        </div>
      </header>
      {refused && <Failure text={refused} />}
      <p role="status">{saved && a("saved")}</p>
      {value.own && (
        <AssistantEditor
          assistant={value}
          onSave={async (body) => {
            setSaved(false);
            await call(`/api/assistants/${id}`, { method: "PUT", body });
            setSaved(true);
            refresh();
          }}
        />
      )}
      {!value.own && !isCopy && (
        <>
          <p class="soft">
            {a("by", { name: value.by })}. {a("notYours")}
          </p>
          <p class="card raw">{value.instructions}</p>
        </>
      )}
      {!value.own && isCopy && (
        <AssistantEditor
          assistant={{ ...value, name: a("copyOf", { name }).slice(0, 80), shared: false }}
          onSave={saveNew}
        />
      )}
      {deleting && (
        <Confirm
          title={a("deleteTitle", { name })}
          text={a("deleteText")}
          action={t("delete")}
          danger
          onClose={() => setDeleting(false)}
          onConfirm={() => {
            setDeleting(false);
            call(`/api/assistants/${id}`, { method: "DELETE" }).then(
              () => go("/assistants"),
              (error: unknown) => setRefused(failureText(error)),
            );
          }}
        />
      )}
    </section>
  );
}
