// Looks into the database all through a run: whether a worker whose machine and database were left alone ever looks dead,
// whether the sessions stay within what was declared, whether a transaction is left open.

import { systemClock } from "../../../config/system-time.ts";
import type { Disturbances, Disturbed } from "../disturbances.ts";
import { asAdministrator } from "../faults/targets.ts";
import type { Timeline } from "../timeline.ts";

export interface DatabaseWatch {
  readonly home: string;
  readonly timeline: Timeline;
  readonly disturbances: Disturbances;
  /** Sessions one instance of a service may hold. */
  readonly declared: Readonly<Record<string, number>>;
  /** Silence after which a worker is taken for dead; null: no time is judged. */
  readonly stalledAfterMs: number | null;
}

/** One look: what the database says of now. */
export interface DatabaseLook {
  readonly at: number;
  readonly limit: number;
  /** Living workers, by the age of their heartbeat; `holds`: they run a job. */
  readonly workers: readonly { readonly id: string; readonly ageMs: number; readonly holds: boolean }[];
  /** Sessions by application name, those of this run left out. */
  readonly sessions: readonly { readonly application: string; readonly count: number }[];
  /** Sessions idle in a transaction for more than 5 s. */
  readonly idle: readonly { readonly application: string; readonly seconds: number; readonly query: string }[];
}

const EVERY_MS = 1_000;
/** Past faults whose effect may still be seen. */
const BEFORE_MS = 6_000;
const HURT: readonly Disturbed[] = ["worker", "database", "inFlight"];

const LOOK = `SELECT json_build_object(
  'limit', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true), '0')::int,
  'workers', (SELECT coalesce(json_agg(json_build_object('id', w.id, 'holds', w.jobs::text <> '{}',
      'ageMs', (extract(epoch FROM clock_timestamp() - w.heartbeat_at) * 1000)::int)), '[]')
    FROM owl.worker w WHERE w.gone_at IS NULL AND w.stopped_at IS NULL),
  'sessions', (SELECT coalesce(json_agg(s), '[]') FROM (SELECT application_name AS application, count(*)::int AS count
    FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'chaos' GROUP BY 1) s),
  'idle', (SELECT coalesce(json_agg(i), '[]') FROM (SELECT application_name AS application, left(query, 200) AS query,
      extract(epoch FROM clock_timestamp() - state_change)::int AS seconds
    FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'
     AND state_change < clock_timestamp() - interval '5 seconds') i)) AS look`;

/** Looks until `ending`; resolves with how many looks the database answered. */
export async function watchDatabase(deps: DatabaseWatch, ending: AbortSignal): Promise<number> {
  let looks = 0;
  let before: DatabaseLook | null = null;
  while (!ending.aborted) {
    const at = systemClock.now();
    const rows = await asAdministrator<{ look: Omit<DatabaseLook, "at"> }>(deps.home, LOOK).catch(() => []);
    const look = rows[0] === undefined ? null : { ...rows[0].look, at };
    // A look that took long was of a machine or a database that stood still.
    if (look !== null && systemClock.now() - at < EVERY_MS && !ending.aborted) {
      looks += 1;
      if (before !== null) judgeLooks(deps, before, look);
      before = look;
    } else before = null;
    await systemClock.sleep(EVERY_MS);
  }
  return looks;
}

/** What two looks in a row agree on is no passing moment. */
export function judgeLooks(
  { timeline, disturbances, declared, stalledAfterMs }: Omit<DatabaseWatch, "home">,
  before: DatabaseLook,
  look: DatabaseLook,
): void {
  const hurt = disturbances.touching(HURT, before.at - BEFORE_MS, look.at + EVERY_MS).length > 0;
  for (const worker of look.workers) {
    const earlier = before.workers.find((one) => one.id === worker.id);
    const oldest = (stalledAfterMs ?? Number.POSITIVE_INFINITY) * 0.8;
    if (hurt || earlier === undefined || worker.ageMs < oldest || earlier.ageMs < oldest) continue;
    timeline.violation("a worker that nothing happened to gives no sign of life", { worker, earlier });
  }
  const sum = look.sessions.reduce((total, { count }) => total + count, 0);
  if (sum > look.limit) timeline.violation("more sessions than the database grants", { sum, sessions: look.sessions });
  for (const { application, count } of look.sessions) {
    const service = /^owl\/(\w+)-\d+$/.exec(application)?.[1];
    const most = service === undefined ? undefined : declared[service];
    // A session that hangs is given up for a new one, and stays until the server notices.
    const earlier = before.sessions.find((one) => one.application === application)?.count ?? 0;
    if (most === undefined || count <= most || earlier <= most || hurt) continue;
    timeline.violation("an instance holds more sessions than declared", { application, count, most });
  }
  for (const one of look.idle)
    if (!hurt && stalledAfterMs !== null && one.application.startsWith("owl/"))
      timeline.violation("a transaction was left open for more than 5 s", { ...one });
}
