// Prompts: the list, and one of them with its editor.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewPrompt, Prompt, Prompts } from "../../../core/wire/prompt.ts";
import { call } from "../api.ts";
import { placesOf } from "../core/prompt.ts";
import { Awaited, BackTo } from "../parts/awaited.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useKeyOf } from "../parts/key-of.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { a } from "../text/assistant-words.ts";
import { t } from "../text/text.ts";
import { AssistantTabs } from "./assistant-tabs.tsx";

export default function PromptsPage({ id }: { readonly id: string | null }): VNode {
  if (id === null) return <PromptList />;
  if (id === "new") return <NewOne />;
  return <PromptView key={id} id={id} />;
}

function PromptList(): VNode {
  const { value, failed, refresh } = useResource<Prompts>("/api/prompts", { pollMs: 30_000 });
  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.prompts")}</h1>
        <AssistantTabs here="prompts" />
        <p>{a("prompt.what")}</p>
      </header>
      <p>
        <a class="button primary" href="/prompts/new" onClick={follow}>
          {a("prompt.new")}
        </a>
      </p>
      {!value && <Awaited failed={failed} onRetry={refresh} />}
      {value?.items.length === 0 && <p class="none">{a("prompt.none")}</p>}
      <ul class="work-list">
        {value?.items.map((one) => (
          <li key={one.id}>
            <a href={`/prompts/${one.id}`} onClick={follow}>
              /{one.name}
            </a>
            {!one.own && <span class="soft">{a("by", { name: one.by })}</span>}
            <span class="soft">{one.shared ? a("team") : a("mine")}</span>
            <p class="soft">{one.beginning}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewOne(): VNode {
  const keyOf = useKeyOf();
  return (
    <section class="page">
      <BackTo href="/prompts" name={t("nav.prompts")} />
      <header class="page-head">
        <h1>{a("prompt.new")}</h1>
      </header>
      <Editor
        prompt={null}
        onSave={async (body) => {
          await call("/api/prompts", { method: "POST", body, key: keyOf(body) });
          go("/prompts");
        }}
      />
    </section>
  );
}

function PromptView({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<Prompt>(`/api/prompts/${id}`, { pollMs: 600_000 });
  const [refused, setRefused] = useState<string | null>(null);
  if (missing) return <p class="none">{a("prompt.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;

  function remove(): void {
    setRefused(null);
    call(`/api/prompts/${id}`, { method: "DELETE" }).then(
      () => go("/prompts"),
      (error: unknown) => setRefused(failureText(error)),
    );
  }

  return (
    <section class="page">
      <BackTo href="/prompts" name={t("nav.prompts")} />
      <header class="page-head">
        <h1>/{value.name}</h1>
        {value.own && (
          <div class="actions">
            <button type="button" class="danger" onClick={remove}>
              {t("delete")}
            </button>
          </div>
        )}
      </header>
      {refused && <Failure text={refused} />}
      {value.own ? (
        <Editor
          prompt={value}
          onSave={async (body) => {
            await call(`/api/prompts/${id}`, { method: "PUT", body });
            go("/prompts");
          }}
        />
      ) : (
        <>
          <p class="soft">{a("by", { name: value.by })}</p>
          <p class="card raw">{value.text}</p>
        </>
      )}
    </section>
  );
}

interface EditorProps {
  readonly prompt: Prompt | null;
  readonly onSave: (body: NewPrompt) => Promise<void>;
}

function Editor({ prompt, onSave }: EditorProps): VNode {
  const [name, setName] = useState(prompt?.name ?? "");
  const [text, setText] = useState(prompt?.text ?? "");
  const [shared, setShared] = useState(prompt?.shared ?? false);
  const [failed, setFailed] = useState<string | null>(null);
  const places = placesOf(text);
  return (
    <form
      class="card schedule-editor"
      onSubmit={(event) => {
        event.preventDefault();
        setFailed(null);
        onSave({ name, text, shared }).catch((error: unknown) => setFailed(failureText(error)));
      }}
    >
      <label class="wide">
        {a("prompt.name")}
        <input
          required
          maxLength={40}
          pattern="[\p{L}\p{N}][\p{L}\p{N}_\-]*"
          title={a("prompt.nameHint")}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label class="wide">
        {a("prompt.text")}
        <textarea
          required
          rows={5}
          maxLength={8_000}
          value={text}
          placeholder={a("prompt.textHint")}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="soft wide" role="status">
        {places.length > 0 && a("prompt.places", { names: places.join(", ") })}
      </p>
      <label class="wide check">
        <input type="checkbox" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
        {a("prompt.share")}
      </label>
      {failed && <Failure text={failed} />}
      <div class="actions wide">
        <button type="submit" class="primary">
          {t("save")}
        </button>
      </div>
    </form>
  );
}
