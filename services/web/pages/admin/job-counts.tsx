// Waiting, running and failed jobs by kind, those with a problem first, with the instant they were read at.

import type { VNode } from "preact";
import type { JobCounts as Counts } from "../../../core/wire/job.ts";
import { durationText } from "../core/duration.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Failure } from "../parts/failure.tsx";
import { useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { languageNow, numberText, t } from "../text/text.ts";
import { type Filter, type Kind, searchOf } from "./jobs.ts";

type KindCounts = Counts["kinds"][number];

export function JobCounts({ asked }: { readonly asked: number }): VNode {
  // Asked anew after every act of ours.
  const { value, failed, refresh } = useResource<Counts>(`/api/admin/jobs/counts?asked=${asked}`, { pollMs: 5_000 });
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  return (
    <section class="card" aria-label={t("jobs.counts")}>
      {failed && <Failure text={failed} onRetry={refresh} />}
      <ul class="job-counts">
        {value.kinds.map((counts) => (
          <li key={counts.kind} data-warns={counts.warnings.length > 0}>
            <h2>{t(`kind.${counts.kind}`)}</h2>
            <p class="job-figures">
              <Count kind={counts.kind} state="queued" count={counts.queued} most={value.countedTo} />
              <Count kind={counts.kind} state="running" count={counts.running} most={value.countedTo} />
              <Count kind={counts.kind} state="failed" count={counts.failedLastDay} most={value.countedTo} />
            </p>
            <p class="soft">{agesText(counts)}</p>
            {counts.warnings.map((warning) => (
              <p key={warning.what} class="warning">
                {warningText(counts.kind, warning)}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <p class="soft">{t("jobs.asOf", { at: timeText(value.asOf) })}</p>
    </section>
  );
}

interface CountProps {
  readonly kind: Kind;
  readonly state: "queued" | "running" | "failed";
  readonly count: number;
  readonly most: number;
}

function Count({ kind, state, count, most }: CountProps): VNode {
  const shown = count >= most ? `${numberText(most)}+` : numberText(count);
  return (
    <a href={hrefOf(kind, state)} class={state === "failed" && count > 0 ? "bad" : ""} onClick={follow}>
      {t(`jobs.${state}Count`, { count: shown })}
    </a>
  );
}

function hrefOf(kind: Kind, state: Filter): string {
  return `/admin/jobs${searchOf({ kind, state, owner: "" })}`;
}

function agesText({ oldestWaitingMs, longestRunningMs, p95Ms }: KindCounts): string {
  const age = (ms: number): string => durationText(ms, languageNow());
  return [
    oldestWaitingMs === null ? null : t("jobs.oldest", { age: age(oldestWaitingMs) }),
    longestRunningMs === null ? null : t("jobs.longest", { age: age(longestRunningMs) }),
    p95Ms === null ? null : t("jobs.usual", { age: age(p95Ms) }),
  ]
    .filter((text) => text !== null)
    .join(" · ");
}

function warningText(kind: Kind, { what, count, ms, limitMs }: KindCounts["warnings"][number]): string {
  const language = languageNow();
  const values = {
    count: numberText(count ?? 0),
    age: durationText(ms ?? 0, language),
    limit: durationText(limitMs ?? 0, language),
  };
  // A turn nobody claims is closed at the limit; the others wait on.
  const key = what === "waitsLong" && kind === "chat" ? "jobs.waitsLongChat" : (`jobs.${what}` as const);
  return t(key, values);
}

function timeText(iso: string): string {
  return new Intl.DateTimeFormat(languageNow(), { timeStyle: "medium" }).format(new Date(iso));
}
