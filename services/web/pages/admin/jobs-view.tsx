// Everybody's jobs: figures with problems first, a list by filter, one job closely, stop and try again.
// Invariant: the address keeps the filter, and what is read anew moves no row under the reader's eyes.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Job, JobsRetried } from "../../../core/wire/job.ts";
import { call } from "../api.ts";
import { durationText } from "../core/duration.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { go, usePlace } from "../routes.ts";
import { ownWords } from "../text/own-words.ts";
import { languageNow, momentText, t } from "../text/text.ts";
import { JobCounts } from "./job-counts.tsx";
import { JobDialog } from "./job-dialog.tsx";
import { FILTERS, type Filter, type JobQuery, KINDS, type Kind, queryOf, searchOf, useJobs } from "./jobs.ts";

export function JobsView(): VNode {
  // The place changes with every step in the history; the filter is in the address beside it.
  usePlace();
  const query = queryOf(location.search);
  const search = searchOf(query);
  const list = useJobs(search);
  const [open, setOpen] = useState<Job | null>(null);
  const [asked, setAsked] = useState(0);
  const [told, setTold] = useState<string | null>(null);
  const acted = (text: string): void => {
    setOpen(null);
    setTold(text);
    setAsked(asked + 1);
    list.reload();
  };

  return (
    <>
      <JobCounts asked={asked} />
      <Filters query={query} key={search} />
      <p class="soft" role="status">
        {told}
      </p>
      {query.state === "failed" && (list.rows?.length ?? 0) > 0 && <RetryAll query={query} onActed={acted} />}
      {list.failed && <Failure text={list.failed} onRetry={list.reload} />}
      {!list.rows && !list.failed && <p class="loading">{t("loading")}</p>}
      {list.rows?.length === 0 && <p class="none">{t(search === "" ? "jobs.noneUnfinished" : "jobs.none")}</p>}
      {list.came > 0 && (
        <p>
          <button type="button" onClick={list.reload}>
            {t("jobs.came", { count: list.came })}
          </button>
        </p>
      )}
      {list.rows && list.rows.length > 0 && (
        <ul class="jobs" aria-label={t("admin.jobs")}>
          {list.rows.map((job) => (
            <Row key={job.id} job={job} hasLeft={list.left.has(job.id)} onOpen={() => setOpen(job)} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <p>
          <button type="button" onClick={list.more}>
            {t("jobs.more")}
          </button>
        </p>
      )}
      {open && <JobDialog job={open} onClose={() => setOpen(null)} onActed={acted} />}
    </>
  );
}

function Filters({ query }: { readonly query: JobQuery }): VNode {
  const [owner, setOwner] = useState(query.owner);
  const change = (part: Partial<JobQuery>): void => go(`/admin/jobs${searchOf({ ...query, owner, ...part })}`);
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        change({});
      }}
    >
      <label>
        {t("jobs.kind")}
        <select
          value={query.kind ?? ""}
          onChange={(event) => change({ kind: (event.currentTarget.value || null) as Kind | null })}
        >
          <option value="">{t("jobs.everyKind")}</option>
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {t(`kind.${kind}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("admin.state")}
        <select value={query.state} onChange={(event) => change({ state: event.currentTarget.value as Filter })}>
          {FILTERS.map((state) => (
            <option key={state} value={state}>
              {t(`jobState.${state}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("jobs.owner")}
        <input
          type="search"
          maxLength={64}
          autocapitalize="none"
          spellcheck={false}
          placeholder={t("jobs.everyOwner")}
          value={owner}
          onInput={(event) => setOwner(event.currentTarget.value)}
        />
      </label>
      <button type="submit">{t("jobs.show")}</button>
    </form>
  );
}

interface RowProps {
  readonly job: Job;
  readonly hasLeft: boolean;
  readonly onOpen: () => void;
}

function Row({ job, hasLeft, onOpen }: RowProps): VNode {
  const now = useNow(30_000);
  const isStopping = job.stopRequested && job.endedAt === null;
  return (
    <li class={hasLeft ? "left" : undefined} data-job={job.id}>
      <button type="button" class="job-name" aria-haspopup="dialog" onClick={onOpen}>
        {t(`jobKind.${job.kind}`)}
        {job.title !== null && <span class="soft"> · {job.title}</span>}
      </button>
      <span class={`state state-${job.state}`}>{isStopping ? t("turn.stopping") : t(`jobState.${job.state}`)}</span>
      <span>{job.owner}</span>
      <span class="soft">
        {job.ageMs === null
          ? momentText(job.endedAt ?? job.createdAt, now)
          : t(job.state === "queued" ? "jobs.waitsFor" : "jobs.runsFor", {
              age: durationText(job.ageMs, languageNow()),
            })}
      </span>
      {job.attempt > 1 && <span class="soft">{t("jobs.attempt", { attempt: job.attempt })}</span>}
      {!job.workerLives && <span class="bad">{t("jobs.noWorker")}</span>}
      {hasLeft && <span class="soft">{t("jobs.left")}</span>}
      {job.message && <p class="bad">{ownWords(job.message, languageNow())}</p>}
    </li>
  );
}

interface RetryAllProps {
  readonly query: JobQuery;
  readonly onActed: (text: string) => void;
}

function RetryAll({ query, onActed }: RetryAllProps): VNode {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const isNever = query.kind === "chat" || query.kind === "playbook";

  async function retry(): Promise<void> {
    setAsking(false);
    setBusy(true);
    setRefused(null);
    const body = { ...(query.kind ? { kind: query.kind } : {}), ...(query.owner ? { owner: query.owner } : {}) };
    try {
      const { retried, left } = await call<JobsRetried>("/api/admin/jobs/retry-failed", { method: "POST", body });
      onActed(left ? t("jobs.retriedSome", { count: retried }) : t("jobs.retried", { count: retried }));
    } catch (error) {
      setRefused(failureText(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      {refused && <Failure text={refused} />}
      {isNever ? (
        <p class="soft">{t(query.kind === "playbook" ? "jobs.neverPlaybook" : "jobs.neverChat")}</p>
      ) : (
        <p>
          <button type="button" disabled={busy} onClick={() => setAsking(true)}>
            {t("jobs.retryAll")}
          </button>
        </p>
      )}
      {asking && (
        <Confirm
          title={t("jobs.retryAllTitle")}
          text={t("jobs.retryAllText")}
          action={t("jobs.retryAll")}
          onClose={() => setAsking(false)}
          onConfirm={() => void retry()}
        />
      )}
    </>
  );
}
