// A call whose outcome is not known: its owner says what becomes of it. Once: a word given elsewhere first is told so.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AskedStep } from "../../../core/wire/step.ts";
import { call } from "../api.ts";
import { t } from "../text/text.ts";
import { failureText } from "./failure.tsx";

const ANSWERS = ["happened", "again", "stop"] as const;

interface AskedStepProps {
  /** `/api/turns/ID` or `/api/playbook-runs/ID`. */
  readonly path: string;
  readonly step: AskedStep;
  readonly onAnswered: () => void;
}

export function AskedStepView({ path, step, onAnswered }: AskedStepProps): VNode {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);

  async function answer(word: (typeof ANSWERS)[number]): Promise<void> {
    setBusy(true);
    setFailed(null);
    try {
      const body = { answer: word, name: step.name, argumentHash: step.argumentHash };
      await call(`${path}/steps/${step.n}/answer`, { method: "POST", body });
    } catch (error) {
      setFailed(failureText(error));
    }
    setBusy(false);
    onAnswered();
  }

  return (
    <section class="asked" aria-label={t("asked.title", { name: step.name })}>
      <p>
        <strong>{t("asked.title", { name: step.name })}</strong>
      </p>
      <p>{t("asked.text")}</p>
      <pre>{JSON.stringify(step.input, null, 2)}</pre>
      <div class="actions">
        {ANSWERS.map((word) => (
          <button key={word} type="button" disabled={busy} onClick={() => void answer(word)}>
            {t(`asked.${word}`)}
          </button>
        ))}
      </div>
      {failed && (
        <p class="bad" role="alert">
          {failed}
        </p>
      )}
    </section>
  );
}
