// One job looked at closely: attempts, timings, request and result without anybody's words, and what may be done.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Job, JobDetail } from "../../../core/wire/job.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { durationText, sizeText } from "../core/duration.ts";
import { AskedStepView } from "../parts/asked-step.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { ownWords } from "../text/own-words.ts";
import { languageNow, momentText, numberText, type TextKey, t } from "../text/text.ts";

interface JobDialogProps {
  readonly job: Job;
  readonly onClose: () => void;
  /** Something was asked of it. */
  readonly onActed: (text: string) => void;
}

type Asking = "stop" | "retry" | null;

export function JobDialog({ job, onClose, onActed }: JobDialogProps): VNode {
  const path = `/api/admin/jobs/${job.kind}/${job.id}`;
  const { value, failed, refresh } = useResource<JobDetail>(path, { pollMs: 2_000 });
  const [asking, setAsking] = useState<Asking>(null);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  // One intention, one key: a second click is the first one's repeat.
  const [key] = useState(() => browserRandom.uuid());
  const shown = value ?? job;

  async function act(verb: "stop" | "retry"): Promise<void> {
    setBusy(true);
    setRefused(null);
    try {
      await call(`${path}/${verb}`, { method: "POST", key: `${key}-${verb}` });
      onActed(
        t(verb === "stop" ? "jobs.stopAsked" : shown.acts.retry === "anew" ? "jobs.askedAnew" : "jobs.waitsAgain"),
      );
    } catch (error) {
      setRefused(failureText(error));
      setAsking(null);
      setBusy(false);
    }
  }

  return (
    <Dialog title={`${t(`jobKind.${job.kind}`)} · ${t(`jobState.${shown.state}`)}`} onClose={onClose} wide>
      {failed && <Failure text={failed} onRetry={refresh} />}
      {shown.message && <Failure text={ownWords(shown.message, languageNow())} />}
      {!shown.workerLives && <p class="warning">{t("jobs.noWorkerText")}</p>}
      {value ? <Facts job={value} /> : !failed && <p class="loading">{t("loading")}</p>}
      {value?.waitsFor?.map((step) => (
        <AskedStepView
          key={step.n}
          path={`/api/${job.kind === "chat" ? "turns" : "playbook-runs"}/${job.id}`}
          step={step}
          onAnswered={refresh}
        />
      ))}
      {refused && <Failure text={refused} />}
      {asking === null ? (
        <Acts job={shown} onAsk={setAsking} />
      ) : (
        <div class="job-confirm">
          <p>{t(confirmText(shown, asking), { owner: shown.owner })}</p>
          <footer>
            <button type="button" disabled={busy} onClick={() => setAsking(null)}>
              {t("cancel")}
            </button>
            <button
              type="button"
              class={asking === "stop" ? "danger" : "primary"}
              disabled={busy}
              onClick={() => void act(asking)}
            >
              {t(asking === "stop" ? "jobs.stop" : shown.acts.retry === "anew" ? "jobs.anew" : "jobs.again")}
            </button>
          </footer>
        </div>
      )}
    </Dialog>
  );
}

function confirmText(job: Job, asking: "stop" | "retry"): TextKey {
  if (asking === "retry") return job.acts.retry === "anew" ? "jobs.anewText" : "jobs.againText";
  if (job.state === "queued") return "jobs.stopWaitingText";
  return job.workerLives ? "jobs.stopText" : "jobs.stopLostText";
}

function Acts({ job, onAsk }: { readonly job: Job; readonly onAsk: (what: "stop" | "retry") => void }): VNode {
  const isOver = job.state === "failed" || job.state === "stopped" || job.state === "cancelled";
  return (
    <>
      {isOver && job.acts.retry === null && (
        <p class="soft">{t(job.kind === "playbook" ? "jobs.neverPlaybook" : "jobs.neverChat")}</p>
      )}
      <footer>
        {job.acts.stop && (
          <button type="button" class="danger" disabled={job.stopRequested} onClick={() => onAsk("stop")}>
            {job.stopRequested ? t("turn.stopping") : t("jobs.stop")}
          </button>
        )}
        {job.acts.retry && (
          <button type="button" class="primary" onClick={() => onAsk("retry")}>
            {t(job.acts.retry === "anew" ? "jobs.anew" : "jobs.again")}
          </button>
        )}
      </footer>
    </>
  );
}

interface Step {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly message: string | null;
}

function Facts({ job }: { readonly job: JobDetail }): VNode {
  const now = useNow(30_000);
  const age = (ms: number): string => durationText(ms, languageNow());
  const facts: [TextKey, string][] = [
    ["jobs.owner", job.owner],
    ["jobs.attempts", numberText(job.attempt)],
    ["jobs.losses", numberText(job.losses)],
    ["jobs.worker", job.worker ?? "–"],
    ["jobs.created", momentText(job.createdAt, now)],
    ["jobs.started", job.startedAt ? momentText(job.startedAt, now) : "–"],
    ["jobs.ended", job.endedAt ? momentText(job.endedAt, now) : "–"],
  ];
  if (job.waitedMs !== null) facts.push(["jobs.waited", age(job.waitedMs)]);
  if (job.ranMs !== null) facts.push(["jobs.ran", age(job.ranMs)]);
  for (const part of [job.payload, job.result]) {
    for (const [name, value] of Object.entries(part ?? {})) {
      const key = FACTS[name];
      if (key === undefined || value === null || typeof value === "object") continue;
      const text =
        name === "bytes" ? sizeText(Number(value)) : name.startsWith("seconds") ? age(Number(value) * 1000) : "";
      facts.push([key, text || (typeof value === "number" ? numberText(value) : String(value))]);
    }
  }
  const steps = (job.result?.steps ?? []) as readonly Step[];
  return (
    <>
      <dl class="figures job-facts">
        {facts.map(([key, text]) => (
          <div key={key}>
            <dt>{t(key)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step) => (
            <li key={step.id} data-state={step.state}>
              <span class="mark" />
              <span class="grow">
                {step.id} <code>{step.tool}</code>
              </span>
              <span class="soft">{t(`runStep.${step.state}` as TextKey)}</span>
            </li>
          ))}
        </ol>
      )}
      <p class="soft">{t("jobs.redacted")}</p>
      <p class="soft">
        <code>{job.id}</code>
      </p>
    </>
  );
}

/** Fields of request and result, by their names. */
const FACTS: Readonly<Record<string, TextKey>> = {
  questionCharacters: "jobs.questionCharacters",
  answerCharacters: "jobs.answerCharacters",
  toolCalls: "jobs.toolCalls",
  path: "jobs.path",
  bytes: "jobs.bytes",
  language: "jobs.language",
  segments: "jobs.segments",
  segmentsTotal: "jobs.segmentsTotal",
  secondsDone: "jobs.secondsDone",
  secondsTotal: "jobs.secondsTotal",
  dataSource: "jobs.dataSource",
  tablesDone: "jobs.tablesDone",
  tablesTotal: "jobs.tablesTotal",
  stoppedAtStep: "jobs.stoppedAtStep",
};
