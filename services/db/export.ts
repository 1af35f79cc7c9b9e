// All that is one account's, page by page, for "export my data". Each page is one short statement over an index, so that
// a client may take it as slowly as it likes; what changes meanwhile may be in it or not.

import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

/** A row may hold an hour's transcript. */
const PAGE_ROWS = 20;

interface Exported {
  /** `x` is the table's row; all of it is the account's own ($1). */
  readonly from: string;
  readonly at: string;
  readonly columns: string;
}

const EXPORTED = {
  conversations: {
    from: "owl.conversation x WHERE x.account_id = $1 AND x.deleted_at IS NULL",
    at: "x.updated_at",
    columns: `x.id, x.title, x.model, x.assistant_id, x.instructions, x.folder, x.pinned_at, x.archived_at, x.created_at,
      x.updated_at`,
  },
  shares: {
    from: "owl.share x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: "x.id, x.conversation_id, x.for_anyone, x.created_at, x.expires_at",
  },
  assistants: {
    from: "owl.assistant x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: `x.id, x.name, x.instructions, x.model, x.temperature, x.tools, x.data_sources, x.starters, x.shared,
      x.created_at, x.updated_at`,
  },
  prompts: {
    from: "owl.prompt x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: "x.id, x.name, x.text, x.shared, x.created_at",
  },
  identities: {
    from: "(SELECT i.*, i.account_id AS id FROM owl.identity i WHERE i.account_id = $1) x WHERE true",
    at: "x.linked_at",
    columns: "x.issuer, x.subject, x.linked_at",
  },
  transcriptions: {
    from: "owl.transcription x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: `x.id, x.batch_id, x.upload_id, x.path, x.name, x.bytes, x.options, x.state, x.message, x.seconds_total,
      x.created_at, x.ended_at, (SELECT jsonb_agg(jsonb_build_object('start_ms', s.start_ms, 'end_ms', s.end_ms,
        'text', s.text) ORDER BY s.n) FROM owl.segment s WHERE s.transcription_id = x.id) AS segments`,
  },
  batches: {
    from: "owl.batch x WHERE x.account_id = $1 AND x.deleted_at IS NULL",
    at: "x.created_at",
    columns: "x.id, x.kind, x.request, x.state, x.total, x.skipped, x.created_at, x.ended_at",
  },
  playbooks: {
    from: "owl.playbook x WHERE x.account_id = $1 AND x.deleted_at IS NULL",
    at: "x.created_at",
    columns: "x.id, x.name, x.steps, x.created_at, x.updated_at",
  },
  "playbook-runs": {
    from: "owl.playbook_run x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: `x.id, x.playbook_id, x.name, x.steps, x.state, x.message, x.created_at, x.ended_at,
      (SELECT jsonb_agg(jsonb_build_object('step', s.step_id, 'tool', s.tool, 'input', s.input, 'state', s.state,
        'output', s.output, 'message', s.message, 'started_at', s.started_at, 'ended_at', s.ended_at)
        ORDER BY s.position) FROM owl.step s WHERE s.run_id = x.id) AS results`,
  },
  schedules: {
    from: "owl.schedule x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: `x.id, x.name, x.cron, x.zone, x.text, x.conversation_id, x.playbook_id, x.missed, x.overlap, x.jitter_ms,
      x.paused_at, x.created_at`,
  },
  "schema-analyses": {
    from: "owl.schema_analysis x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: `x.id, x.data_source, x.state, x.message, x.created_at, x.ended_at,
      (SELECT jsonb_agg(jsonb_build_object('schema', d.table_schema, 'table', d.table_name,
        'description', d.description, 'columns', d.columns) ORDER BY d.table_schema, d.table_name)
        FROM owl.table_description d WHERE d.analysis_id = x.id) AS tables`,
  },
  "api-tokens": {
    from: "owl.api_token x WHERE x.account_id = $1",
    at: "x.created_at",
    columns: "x.id, x.name, x.prefix, x.scopes, x.created_at, x.expires_at, x.used_at",
  },
  recordings: {
    from: "owl.upload x WHERE x.account_id = $1 AND x.deleted_at IS NULL AND x.completed_at IS NOT NULL",
    at: "x.created_at",
    columns: "x.id, x.name, x.bytes, x.sha256, x.media_type, x.created_at",
  },
} as const satisfies Readonly<Record<string, Exported>>;

/** $2: the conversation, which the caller read as the account's own. */
const TURNS: Exported = {
  from: "owl.turn x WHERE x.account_id = $1 AND x.conversation_id = $2::uuid",
  at: "x.created_at",
  columns: `x.id, x.conversation_id, owl.turn_parent(x.id) AS follows, x.text, x.model, x.state, x.answer, x.message, x.created_at, x.ended_at,
    (SELECT jsonb_build_object('good', f.good, 'note', f.note) FROM owl.feedback f WHERE f.turn_id = x.id) AS feedback,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name) ORDER BY a.position), '[]')
       FROM owl.attachment a WHERE a.turn_id = x.id) AS attachments`,
};

type ExportedKind = keyof typeof EXPORTED;
export const EXPORTED_KINDS = Object.keys(EXPORTED) as readonly ExportedKind[];

export interface ExportedRow {
  readonly id: string;
  /** The row as it is told. */
  readonly json: string;
}

export function exportRows(sql: Sql, accountId: string, kind: ExportedKind): AsyncGenerator<ExportedRow> {
  return pages(sql, EXPORTED[kind], [accountId]);
}

export function exportTurns(sql: Sql, accountId: string, conversationId: string): AsyncGenerator<ExportedRow> {
  return pages(sql, TURNS, [accountId, conversationId]);
}

/** Newest first. `owner`: the values of `from`. */
async function* pages(sql: Sql, table: Exported, owner: readonly string[]): AsyncGenerator<ExportedRow> {
  const [cursorAt, idAt] = [`$${owner.length + 1}`, `$${owner.length + 2}`];
  const text = `
    SELECT x.id, ${cursorText(table.at)} AS cursor, (SELECT to_jsonb(told) FROM (SELECT ${table.columns}) told)::text AS json
      FROM ${table.from} AND ${beforeText(table.at, "x.id", cursorAt, idAt)}
     ORDER BY ${table.at} DESC, x.id DESC LIMIT ${PAGE_ROWS}`;
  for (let before: Before = null; ; ) {
    const { rows }: { readonly rows: readonly (ExportedRow & { readonly cursor: string })[] } = await sql.query<
      ExportedRow & { readonly cursor: string }
    >(text, [...owner, ...beforeValues(before)]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    before = { cursor: last.cursor, id: last.id };
  }
}
