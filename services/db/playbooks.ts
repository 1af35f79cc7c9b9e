// Playbooks: stored as they were written; a run copies its steps, so that a later change does not touch it.

import type { LostRule, PlaybookStep } from "../core/playbook.ts";
import type { RunState } from "../core/wire/playbook.ts";
import { type Before, beforeText, beforeValues, cursorText } from "./keyset.ts";
import type { Sql } from "./pool.ts";

export interface PlaybookRow {
  readonly id: string;
  readonly name: string;
  readonly steps: readonly PlaybookStep[];
  readonly lost: LostRule;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastRun: { readonly id: string; readonly state: RunState } | null;
  readonly cursor: string;
}

const playbookText = (steps: string) => `SELECT p.id, p.name, ${steps} AS steps, p.lost, p.created_at AS "createdAt",
    p.updated_at AS "updatedAt",
    (SELECT jsonb_build_object('id', r.id, 'state', r.state) FROM owl.playbook_run r WHERE r.playbook_id = p.id
      ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS "lastRun",
    ${cursorText("p.created_at")} AS cursor`;

/** A page of playbooks holds so many characters, and the one that passes it. */
const PAGE_CHARACTERS = 2_000_000;

export async function findPlaybook(sql: Sql, id: string, accountId: string): Promise<PlaybookRow | null> {
  const { rows } = await sql.query<PlaybookRow>(
    `${playbookText("p.steps")} FROM owl.playbook p WHERE p.deleted_at IS NULL AND p.id = $1 AND p.account_id = $2`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** The account's playbooks, newest first. */
export async function listPlaybooks(
  sql: Sql,
  query: {
    readonly accountId: string;
    readonly before: Before;
    readonly limit: number;
  },
): Promise<readonly (PlaybookRow & { readonly isOver: boolean })[]> {
  const { rows } = await sql.query<PlaybookRow & { isOver: boolean }>(
    `${playbookText(`CASE WHEN p.before < ${PAGE_CHARACTERS} THEN p.steps ELSE '[]' END`)},
            p.before >= ${PAGE_CHARACTERS} AS "isOver"
       FROM (SELECT p.*, coalesce(sum(length(p.steps::text)) OVER (ORDER BY p.created_at DESC, p.id DESC
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
               FROM (SELECT * FROM owl.playbook o WHERE o.deleted_at IS NULL AND o.account_id = $1
                        AND ${beforeText("o.created_at", "o.id", "$2", "$3")}
                      ORDER BY o.created_at DESC, o.id DESC LIMIT $4) p) p
      ORDER BY p.created_at DESC, p.id DESC`,
    [query.accountId, ...beforeValues(query.before), query.limit],
  );
  return rows;
}

export async function insertPlaybook(
  sql: Sql,
  playbook: {
    readonly id: string;
    readonly accountId: string;
    readonly name: string;
    readonly steps: readonly PlaybookStep[];
    readonly lost: LostRule;
  },
): Promise<void> {
  await sql.query("INSERT INTO owl.playbook (id, account_id, name, steps, lost) VALUES ($1, $2, $3, $4::jsonb, $5)", [
    playbook.id,
    playbook.accountId,
    playbook.name,
    JSON.stringify(playbook.steps),
    playbook.lost,
  ]);
}

/** Replaces what was written; false when it is not there. */
export async function changePlaybook(
  sql: Sql,
  id: string,
  accountId: string,
  change: { readonly name: string; readonly steps: readonly PlaybookStep[]; readonly lost: LostRule },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.playbook SET name = $3, steps = $4::jsonb, lost = $5, updated_at = clock_timestamp()
      WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
    [id, accountId, change.name, JSON.stringify(change.steps), change.lost],
  );
  return rowCount === 1;
}

/** Marks it deleted (its runs stay); false when it is not there. */
export async function deletePlaybook(sql: Sql, id: string, accountId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.playbook SET deleted_at = clock_timestamp() WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
    [id, accountId],
  );
  return rowCount === 1;
}
