// Playbooks: the list, one of them with its editor and its runs.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Page } from "../../../core/wire/parts.ts";
import type { Playbook, Run, RunAccepted } from "../../../core/wire/playbook.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { Awaited, BackTo, WorkList } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useKeyOf } from "../parts/key-of.ts";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { momentText, t } from "../text/text.ts";
import { PlaybookEditor } from "./playbook-editor.tsx";

export default function PlaybooksPage({ id }: { readonly id: string | null }): VNode {
  if (id === null) return <Playbooks />;
  if (id === "new") return <NewPlaybook />;
  return <PlaybookView key={id} id={id} />;
}

function Playbooks(): VNode {
  const list = useResource<Page<Playbook>>("/api/playbooks?limit=100", { marks: ["playbook", "playbook_run"] });
  const now = useNow(30_000);
  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.playbooks")}</h1>
        <p>{t("playbook.what")}</p>
      </header>
      <p>
        <a class="button primary" href="/playbooks/new" onClick={follow}>
          {t("playbook.new")}
        </a>
      </p>
      <WorkList
        list={list}
        none={t("playbook.none")}
        row={(playbook) => (
          <li key={playbook.id}>
            <a href={`/playbooks/${playbook.id}`} onClick={follow}>
              {playbook.name}
            </a>
            <span class="soft">{t("playbook.steps", { count: playbook.steps.length })}</span>
            {playbook.lastRun && (
              <a
                class={`state state-${playbook.lastRun.state}`}
                href={`/playbook-runs/${playbook.lastRun.id}`}
                onClick={follow}
              >
                {t(`run.${playbook.lastRun.state}`)}
              </a>
            )}
            <span class="soft">{momentText(playbook.updatedAt, now)}</span>
          </li>
        )}
      />
    </section>
  );
}

const Back = (): VNode => <BackTo href="/playbooks" name={t("nav.playbooks")} />;

function NewPlaybook(): VNode {
  const keyOf = useKeyOf();
  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{t("playbook.new")}</h1>
      </header>
      <PlaybookEditor
        playbook={null}
        onSave={async (body) => {
          const made = await call<Playbook>("/api/playbooks", {
            method: "POST",
            body,
            key: keyOf(body),
          });
          go(`/playbooks/${made.id}`, "replace");
        }}
      />
    </section>
  );
}

function PlaybookView({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<Playbook>(`/api/playbooks/${id}`, {
    marks: [],
    pollMs: 60_000,
  });
  const runs = useResource<Page<Run>>(`/api/playbook-runs?playbookId=${id}&limit=20`, {
    marks: ["playbook", "playbook_run"],
  });
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(30_000);
  if (missing) return <p class="none">{t("playbook.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;

  async function run(): Promise<void> {
    setAsked(false);
    setRefused(null);
    try {
      const made = await call<RunAccepted>(`/api/playbooks/${id}/runs`, {
        method: "POST",
        key: browserRandom.uuid(),
      });
      go(`/playbook-runs/${made.runId}`);
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  async function remove(): Promise<void> {
    setDeleting(false);
    try {
      await call(`/api/playbooks/${id}`, { method: "DELETE" });
      go("/playbooks");
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{value.name}</h1>
        <div class="actions">
          <button type="button" class="primary" disabled={editing} onClick={() => setAsked(true)}>
            {t("playbook.run")}
          </button>
          <button type="button" onClick={() => setEditing(!editing)}>
            {editing ? t("cancel") : t("turn.edit")}
          </button>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            {t("delete")}
          </button>
        </div>
      </header>
      {refused && <Failure text={refused} />}
      {editing ? (
        <PlaybookEditor
          playbook={value}
          onSave={async (body) => {
            await call(`/api/playbooks/${id}`, { method: "PUT", body });
            setEditing(false);
            refresh();
          }}
        />
      ) : (
        <ol class="playbook-steps">
          {value.steps.map((step) => (
            <li key={step.id} class="card">
              <h2>
                {step.id} <span class="state">{t(`tool.${step.tool}` as "tool.sql")}</span>
              </h2>
              <pre>{inputText(step.input)}</pre>
            </li>
          ))}
        </ol>
      )}
      <h2>{t("playbook.runs")}</h2>
      <WorkList
        list={runs}
        none={t("playbook.noRuns")}
        row={(item) => (
          <li key={item.id}>
            <a href={`/playbook-runs/${item.id}`} onClick={follow}>
              {momentText(item.createdAt, now)}
            </a>
            <span class={`state state-${item.state}`}>{t(`run.${item.state}`)}</span>
            {item.stoppedAtStep && <span class="soft">{t("run.stoppedAt", { step: item.stoppedAtStep })}</span>}
            {item.message && <span class="bad">{item.message}</span>}
          </li>
        )}
      />
      {asked && (
        <Confirm
          title={t("playbook.runTitle", { name: value.name })}
          text={t("playbook.runText")}
          action={t("playbook.run")}
          onClose={() => setAsked(false)}
          onConfirm={() => void run()}
        />
      )}
      {deleting && (
        <Confirm
          title={t("playbook.deleteTitle", { name: value.name })}
          text={t("playbook.deleteText")}
          action={t("delete")}
          danger
          onClose={() => setDeleting(false)}
          onConfirm={() => void remove()}
        />
      )}
    </section>
  );
}

/** A step's input as people read it: a statement or text as lines, the rest as `name: value`. */
export function inputText(input: Readonly<Record<string, unknown>>): string {
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
