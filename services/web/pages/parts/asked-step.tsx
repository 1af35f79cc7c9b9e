// A call that is to be allowed, or whose outcome is not known: a person says what becomes of it. Once: a word given elsewhere first is told so.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AskedStep } from "../../../core/wire/step.ts";
import { call } from "../api.ts";
import { t } from "../text/text.ts";
import { failureText } from "./failure.tsx";

const ANSWERS = { approval: ["allow", "refuse"], outcome: ["happened", "again", "stop"] } as const;
type Answer = (typeof ANSWERS)[AskedStep["asks"]][number];

interface AskedStepProps {
  /** `/api/turns/ID` or `/api/playbook-runs/ID`. */
  readonly path: string;
  readonly step: AskedStep;
  readonly onAnswered: () => void;
}

export function AskedStepView({ path, step, onAnswered }: AskedStepProps): VNode {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);

  const title = t(`asked.${step.asks}.title`, { name: step.name });

  async function answer(word: Answer): Promise<void> {
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
    <section class="asked" aria-label={title}>
      <p>
        <strong>{title}</strong>
      </p>
      <p>{t(`asked.${step.asks}.text`)}</p>
      <pre>{JSON.stringify(step.input, null, 2)}</pre>
      <div class="actions">
        {ANSWERS[step.asks].map((word) => (
          <button
            key={word}
            type="button"
            class={word === "allow" ? "primary" : undefined}
            disabled={busy}
            onClick={() => void answer(word)}
          >
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
