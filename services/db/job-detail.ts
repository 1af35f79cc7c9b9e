// What is told of one job beyond its row in the list: what it was asked (without anybody's words) and how far it came.
// Invariant: sizes, names and states only; no question, answer, transcript, input or output of a step.

import type { JobKind } from "../../config/config.ts";
import { type StepState, shownStepState } from "../core/playbook.ts";
import type { Sql } from "./pool.ts";

interface JobDetail {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
}

const TEXTS: Readonly<Record<JobKind, string>> = {
  chat: `SELECT jsonb_build_object('questionCharacters', length(t.text)) AS payload,
      jsonb_build_object('answerCharacters', coalesce(length(t.answer), 0), 'toolCalls',
        (SELECT count(DISTINCT v.data->>'id')::int FROM owl.turn_event v WHERE v.turn_id = t.id AND v.kind = 'tool'))
        AS result
    FROM owl.turn t WHERE t.id = $1`,
  transcription: `SELECT jsonb_build_object('source', CASE WHEN t.path IS NULL THEN 'upload' ELSE 'archive' END,
        'path', t.path, 'bytes', t.bytes, 'language', t.options->>'language') AS payload,
      jsonb_build_object('segments', (SELECT count(*)::int FROM owl.segment s WHERE s.transcription_id = t.id),
        'segmentsTotal', t.segments_total, 'secondsDone', t.seconds_done, 'secondsTotal', t.seconds_total) AS result
    FROM owl.transcription t WHERE t.id = $1`,
  playbook: `SELECT jsonb_build_object('steps', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.step->>'id', 'tool', s.step->>'tool') ORDER BY s.n), '[]')
          FROM jsonb_array_elements(r.steps) WITH ORDINALITY AS s(step, n))) AS payload,
      jsonb_build_object('over', r.ended_at IS NOT NULL, 'stoppedAtStep', r.stopped_at_step, 'steps', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.step->>'id', 'tool', s.step->>'tool', 'state', b.state,
                 'startedAt', b.started_at, 'endedAt', b.ended_at, 'message', b.message) ORDER BY s.n), '[]')
          FROM jsonb_array_elements(r.steps) WITH ORDINALITY AS s(step, n)
          LEFT JOIN owl.step b ON b.run_id = r.id AND b.position = s.n - 1)) AS result
    FROM owl.playbook_run r WHERE r.id = $1`,
  "schema-analysis": `SELECT jsonb_build_object('dataSource', a.data_source) AS payload,
      jsonb_build_object('tablesTotal', a.tables_total, 'tablesDone',
        (SELECT count(*)::int FROM owl.table_description d WHERE d.analysis_id = a.id)) AS result
    FROM owl.schema_analysis a WHERE a.id = $1`,
};

interface StoredStep {
  readonly state: Exclude<StepState, "waiting" | "notReached"> | null;
}

/** The job's request and result, told without content; null when it is not there. */
export async function findJobDetail(sql: Sql, kind: JobKind, id: string): Promise<JobDetail | null> {
  const { rows } = await sql.query<JobDetail>(TEXTS[kind], [id]);
  const row = rows[0];
  if (!row || kind !== "playbook") return row ?? null;
  const { over, steps, ...rest } = row.result as { over: boolean; steps: readonly StoredStep[] };
  const shown = steps.map((step) => ({ ...step, state: shownStepState(step.state, over) }));
  return { payload: row.payload, result: { ...rest, steps: shown } };
}
