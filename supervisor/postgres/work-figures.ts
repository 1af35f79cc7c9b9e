// What the application's tables tell of its work: for metrics, cheap at any size of the tables.
// Invariant: waiting jobs are counted by partial indexes, ended turns only once each and only those since owld started.

import type { QueryResultRow } from "pg";
import type { JobKind } from "../../config/config.ts";
import type { WorkFigures } from "../ports.ts";

type Ask = <Row extends QueryResultRow>(sql: string, values?: unknown[]) => Promise<readonly Row[] | null>;

const QUEUED = `
  SELECT kind, count(*)::int AS queued, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest_s
  FROM (SELECT 'chat' AS kind, created_at FROM owl.turn WHERE state = 'queued'
        UNION ALL SELECT 'transcription', created_at FROM owl.transcription WHERE state = 'queued'
        UNION ALL SELECT 'playbook', created_at FROM owl.playbook_run WHERE state = 'queued'
        UNION ALL SELECT 'schema-analysis', created_at FROM owl.schema_analysis WHERE state = 'queued') waiting
  GROUP BY kind`;

// An ending is visible a moment after its time stamp: what is younger than 5 s is left for the next time.
const NOW = "SELECT (clock_timestamp() - interval '5 seconds')::text AS until";
const ENDED = `
  SELECT state AS outcome, coalesce(cause, state) AS cause, count(*)::int AS count
  FROM owl.turn WHERE ended_at > $1::timestamptz AND ended_at <= $2::timestamptz GROUP BY 1, 2`;

const RECLAIMED = "SELECT coalesce(sum(reclaimed), 0)::int AS reclaimed FROM owl.worker";

/** Asks the metastore; null when it does not answer or lacks the tables. */
export function createWorkFigures(ask: Ask): () => Promise<WorkFigures | null> {
  const turns = new Map<string, WorkFigures["turns"][number]>();
  let since: string | null = null;

  async function countEnded(): Promise<boolean> {
    const until = (await ask<{ until: string }>(NOW))?.[0]?.until;
    if (until === undefined) return false;
    if (since !== null) {
      const ended = await ask<{ outcome: string; cause: string; count: number }>(ENDED, [since, until]);
      if (ended === null) return false;
      for (const { outcome, cause, count } of ended) {
        const key = `${outcome} ${cause}`;
        turns.set(key, { outcome, cause, count: (turns.get(key)?.count ?? 0) + count });
      }
    }
    since = until;
    return true;
  }

  let asking: Promise<WorkFigures | null> | null = null;
  async function read(): Promise<WorkFigures | null> {
    const queued = await ask<{ kind: JobKind; queued: number; oldest_s: number }>(QUEUED);
    if (queued === null || !(await countEnded())) return null;
    const reclaimed = await ask<{ reclaimed: number }>(RECLAIMED);
    if (reclaimed === null) return null;
    return {
      queued: { ...NONE_QUEUED, ...Object.fromEntries(queued.map((row) => [row.kind, row.queued])) },
      oldestQueuedS: { ...NONE_QUEUED, ...Object.fromEntries(queued.map((row) => [row.kind, row.oldest_s])) },
      turns: [...turns.values()],
      reclaimed: reclaimed[0]?.reclaimed ?? 0,
    };
  }
  return () => {
    // Two scrapes at once share one answer: each ending is counted once.
    asking ??= read().finally(() => {
      asking = null;
    });
    return asking;
  };
}

const NONE_QUEUED: Readonly<Record<JobKind, number>> = { chat: 0, transcription: 0, playbook: 0, "schema-analysis": 0 };
