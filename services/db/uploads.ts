// Uploads: a row and a file named by its id. Invariant: `bytes` is what is safely in the file; only the request whose
// token is in `writer` may raise it, so that of two that write at once one is refused.

import type { Sql } from "./pool.ts";

export interface UploadRow {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly length: number | null;
  readonly sha256: string | null;
  readonly mediaType: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

const COLUMNS = `id, name, bytes::float8 AS bytes, length::float8 AS length, sha256, media_type AS "mediaType",
  created_at AS "createdAt", completed_at AS "completedAt"`;

export async function insertUpload(
  sql: Sql,
  upload: {
    readonly id: string;
    readonly accountId: string;
    readonly name: string;
    readonly length: number | null;
  },
): Promise<UploadRow> {
  const { rows } = await sql.query<UploadRow>(
    `INSERT INTO owl.upload (id, account_id, name, length) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
    [upload.id, upload.accountId, upload.name, upload.length],
  );
  return rows[0] as UploadRow;
}

export async function findUpload(sql: Sql, id: string, accountId: string): Promise<UploadRow | null> {
  const { rows } = await sql.query<UploadRow>(
    `SELECT ${COLUMNS} FROM owl.upload WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL`,
    [id, accountId],
  );
  return rows[0] ?? null;
}

/** Completed uploads of the account among `ids`. */
export async function findUploads(sql: Sql, ids: readonly string[], accountId: string): Promise<readonly UploadRow[]> {
  const { rows } = await sql.query<UploadRow>(
    `SELECT ${COLUMNS} FROM owl.upload WHERE id = ANY($1::uuid[]) AND account_id = $2 AND deleted_at IS NULL
        AND completed_at IS NOT NULL`,
    [ids, accountId],
  );
  return rows;
}

/** Makes `writer` the one that may add bytes (an earlier one is refused from now on); null at another offset. */
export async function takeUpload(sql: Sql, id: string, offset: number, writer: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.upload SET writer = $3, moved_at = clock_timestamp()
      WHERE id = $1 AND bytes = $2 AND completed_at IS NULL AND deleted_at IS NULL`,
    [id, offset, writer],
  );
  return rowCount === 1;
}

/** Notes how far the file is; false when another request writes it now. */
export async function advanceUpload(sql: Sql, id: string, writer: string, bytes: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.upload SET bytes = $3, moved_at = clock_timestamp()
      WHERE id = $1 AND writer = $2 AND bytes <= $3 AND completed_at IS NULL AND deleted_at IS NULL`,
    [id, writer, bytes],
  );
  return rowCount === 1;
}

export async function completeUpload(
  sql: Sql,
  id: string,
  end: { readonly writer: string; readonly sha256: string; readonly mediaType: string },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE owl.upload SET sha256 = $3, media_type = $4, length = bytes, completed_at = clock_timestamp(), writer = NULL
      WHERE id = $1 AND writer = $2 AND completed_at IS NULL AND deleted_at IS NULL`,
    [id, end.writer, end.sha256, end.mediaType],
  );
  return rowCount === 1;
}

/**
 * Deletes it; the row stays, marked, while a transcription names it, and the file goes either way. "inUse" while a
 * transcription that has not ended needs it, "notFound" when it is not there.
 */
export async function deleteUpload(sql: Sql, id: string, accountId: string): Promise<"deleted" | "inUse" | "notFound"> {
  const { rows } = await sql.query<{ open: boolean; used: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id AND t.state IN ('queued', 'running')) AS open,
            EXISTS (SELECT 1 FROM owl.transcription t WHERE t.upload_id = u.id) AS used
       FROM owl.upload u WHERE u.id = $1 AND u.account_id = $2 AND u.deleted_at IS NULL FOR UPDATE OF u`,
    [id, accountId],
  );
  const row = rows[0];
  if (!row) return "notFound";
  if (row.open) return "inUse";
  if (!row.used) await sql.query("DELETE FROM owl.upload WHERE id = $1", [id]);
  else await sql.query("UPDATE owl.upload SET deleted_at = clock_timestamp(), writer = NULL WHERE id = $1", [id]);
  return "deleted";
}

/** Deletes unfinished uploads nobody has touched for `hours`, at most `limit`; answers how many. */
export async function expireUploads(sql: Sql, hours: number, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM owl.upload WHERE id = ANY(ARRAY(
       SELECT id FROM owl.upload WHERE completed_at IS NULL AND deleted_at IS NULL
          AND moved_at < statement_timestamp() - make_interval(hours => $1) LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    [hours, limit],
  );
  return rowCount;
}
