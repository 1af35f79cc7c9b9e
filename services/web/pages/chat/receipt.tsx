// "How was this answered?": the steps of an answer as they are on record, read when it is unfolded.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Receipt } from "../../../core/wire/step.ts";
import type { TurnForked } from "../../../core/wire/turn.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { costText } from "../core/cost-text.ts";
import { durationText } from "../core/duration.ts";
import { failureText } from "../parts/failure.tsx";
import { go } from "../routes.ts";
import { languageNow, numberText, t } from "../text/text.ts";

export function ReceiptView({ turnId }: { readonly turnId: string }): VNode {
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const read = (isOpen: boolean): void => {
    if (!isOpen) return;
    setFailed(null);
    call<Receipt>(`/api/turns/${turnId}/steps`).then(setReceipt, (error: unknown) => setFailed(failureText(error)));
  };
  const askFrom = (n: number): void => {
    setFailed(null);
    call<TurnForked>(`/api/turns/${turnId}/steps/${n}/fork`, { method: "POST", key: browserRandom.uuid() }).then(
      ({ conversationId }) => go(`/c/${conversationId}`),
      (error: unknown) => setFailed(failureText(error)),
    );
  };
  return (
    <details class="receipt" onToggle={(event) => read(event.currentTarget.open)}>
      <summary class="soft">{t("receipt.title")}</summary>
      {failed && <p class="bad">{failed}</p>}
      {receipt && <Steps receipt={receipt} onAskFrom={askFrom} />}
    </details>
  );
}

interface StepsProps {
  readonly receipt: Receipt;
  readonly onAskFrom: (n: number) => void;
}

function Steps({ receipt, onAskFrom }: StepsProps): VNode {
  const { attempts, losses, steps, used } = receipt;
  const again = { attempts: numberText(attempts - 1), losses: numberText(losses) };
  return (
    <>
      <p class="soft">{attempts > 1 ? t("receipt.attempts", again) : t("receipt.once")}</p>
      {used && (
        <p class="soft">
          {t("receipt.used", {
            input: numberText(used.inputTokens),
            output: numberText(used.outputTokens),
            cost: costText(used.cost),
          })}
        </p>
      )}
      {steps.length === 0 && <p class="soft">{t("receipt.none")}</p>}
      <ol>
        {steps.map((step) => (
          <li key={step.n}>
            <strong>{nameOf(step)}</strong> <span class="soft">{factsOf(step, attempts)}</span>
            <button type="button" class="link" onClick={() => onAskFrom(step.n)}>
              {t("receipt.fork")}
            </button>
            {step.kind === "tool" && <pre>{argumentText(step.input)}</pre>}
            {step.message && <p class="bad">{step.message}</p>}
          </li>
        ))}
      </ol>
    </>
  );
}

type Step = Receipt["steps"][number];

function nameOf({ kind, name, input }: Step): string {
  const { model } = (input ?? {}) as { readonly model?: string | null };
  return kind === "model" ? (model ?? name) : name;
}

function factsOf(step: Step, attempts: number): string {
  const facts: string[] = [];
  if (step.state !== "finished") facts.push(t(`runStep.${step.state}`));
  if (step.rows !== null) facts.push(t("receipt.rows", { rows: numberText(step.rows) }));
  if (step.endedAt !== null) {
    facts.push(durationText(Date.parse(step.endedAt) - Date.parse(step.startedAt), languageNow()));
  }
  if (step.release !== null) facts.push(t("receipt.release", { release: step.release }));
  if (attempts > 1) facts.push(t("receipt.attempt", { attempt: numberText(step.attempt) }));
  return facts.join(" · ");
}

/** A statement as it was, other arguments as JSON. */
function argumentText(input: unknown): string {
  const { sql } = (input ?? {}) as { readonly sql?: unknown };
  return typeof sql === "string" ? sql : JSON.stringify(input, null, 2);
}
