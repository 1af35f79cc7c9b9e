// What people thought of answers: how many, and the very questions and answers.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { FeedbackPage, GivenFeedback } from "../../../core/wire/feedback.ts";
import { Awaited } from "../parts/awaited.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { f } from "../text/feedback-words.ts";
import { momentText, numberText, t } from "../text/text.ts";

const PAGE_ROWS = 50;

export function FeedbackView(): VNode {
  const [good, setGood] = useState("");
  const [rows, setRows] = useState(PAGE_ROWS);
  const path = `/api/admin/feedback?limit=${rows}${good === "" ? "" : `&good=${good}`}`;
  const { value, failed, refresh } = useResource<FeedbackPage>(path, { pollMs: 15_000 });
  const now = useNow(60_000);
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  const { counts } = value;
  return (
    <>
      <p class="soft">{f("what")}</p>
      <p>{(["good", "bad", "noted"] as const).map((name) => `${f(name)}: ${numberText(counts[name])}`).join(" · ")}</p>
      <label class="feedback-filter">
        {f("which")}
        <select value={good} onChange={(event) => setGood(event.currentTarget.value)}>
          <option value="">{f("all")}</option>
          <option value="true">{f("good")}</option>
          <option value="false">{f("bad")}</option>
        </select>
      </label>
      {value.items.length === 0 && <p class="none">{f("none")}</p>}
      {value.items.map((item) => (
        <Given key={item.turnId} item={item} at={momentText(item.at, now)} />
      ))}
      {value.next !== null && rows < 200 && (
        <button type="button" class="link" onClick={() => setRows(200)}>
          {t("more")}
        </button>
      )}
    </>
  );
}

function Given({ item, at }: { readonly item: GivenFeedback; readonly at: string }): VNode {
  const { good, note, account, assistant, model, question, answer, own, conversationId, turnId } = item;
  return (
    <article class="card">
      <p>
        <strong class={good ? "" : "bad"}>{f(good ? "good" : "bad")}</strong>{" "}
        <span class="soft">{[account, at, assistant, model].filter((word) => word !== null).join(" · ")}</span>
      </p>
      {note !== "" && <p class="raw">{note}</p>}
      <details>
        <summary>{question.slice(0, 120)}</summary>
        <p class="soft">{f("question")}</p>
        <p class="raw">{question}</p>
        <p class="soft">{f("answer")}</p>
        <p class="raw">{answer}</p>
      </details>
      {own && (
        <a href={`/c/${conversationId}?turn=${turnId}`} onClick={follow}>
          {f("open")}
        </a>
      )}
    </article>
  );
}
