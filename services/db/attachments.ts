// Files attached to questions. Invariants: every statement names the owner; a row belongs to at most one turn and is
// never moved to another one: what was sent already goes with a further question as a copy.

import type { AttachedFile } from "../core/attached-files.ts";
import type { ImageType } from "../core/image-header.ts";
import type { Sql } from "./pool.ts";

export interface AttachmentRow {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  /** Of an image, in pixels; absent: the file is text. */
  readonly image?: { readonly width: number; readonly height: number };
}

/** What an image is, as it was sent. */
interface ImageContent {
  readonly mediaType: ImageType;
  readonly content: Buffer;
}

/** Of an attachment `a`: what is told of it. */
export const ATTACHED = `jsonb_strip_nulls(jsonb_build_object('id', a.id, 'name', a.name, 'bytes', a.bytes,
  'image', CASE WHEN a.media_type IS NOT NULL THEN jsonb_build_object('width', a.width, 'height', a.height) END))`;

/** Columns that a copy takes over. */
export const CONTENT = "name, bytes, characters, text, media_type, width, height, image";

/** Keeps a file that no question goes with yet. */
export async function insertAttachment(
  sql: Sql,
  attachment: AttachmentRow & { readonly accountId: string; readonly text: string; readonly is: ImageContent | null },
): Promise<void> {
  const { id, accountId, name, bytes, text, image, is } = attachment;
  await sql.query(
    `INSERT INTO owl.attachment (id, account_id, name, bytes, characters, text, media_type, width, height, image)
     VALUES ($1, $2, $3, $4, char_length($5::text), $5, $6, $7, $8, $9)`,
    [id, accountId, name, bytes, text, is?.mediaType, image?.width, image?.height, is?.content],
  );
}

/** The file with its text, or as the image it is, when it is that account's. */
export async function findAttachment(
  sql: Sql,
  id: string,
  accountId: string,
): Promise<{ readonly name: string; readonly text: string; readonly is: ImageContent | null } | null> {
  const { rows } = await sql.query<{ name: string; text: string; mediaType: ImageType | null; content: Buffer }>(
    `SELECT name, text, media_type AS "mediaType", image AS content FROM owl.attachment
      WHERE id = $1 AND account_id = $2`,
    [id, accountId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { name, text, mediaType, content } = row;
  return { name, text, is: mediaType === null ? null : { mediaType, content } };
}

/** Deletes a file that is not sent. "sent": a question has it, it goes with its conversation only. */
export async function deleteAttachment(
  sql: Sql,
  id: string,
  accountId: string,
): Promise<"deleted" | "sent" | "notFound"> {
  const { rowCount } = await sql.query(
    "DELETE FROM owl.attachment WHERE id = $1 AND account_id = $2 AND turn_id IS NULL",
    [id, accountId],
  );
  if (rowCount === 1) return "deleted";
  return (await findAttachment(sql, id, accountId)) ? "sent" : "notFound";
}

/**
 * Gives the files to the account's turn, in that order: an unsent one becomes its own, of one that another turn has it
 * gets a copy under `copyId`. `missing` are those that are not there or not the account's: then the caller must roll
 * back; `copied` is how many copies were made.
 */
export async function attachToTurn(
  sql: Sql,
  turn: { readonly id: string; readonly accountId: string },
  files: readonly { readonly id: string; readonly copyId: string }[],
): Promise<{ readonly missing: readonly string[]; readonly copied: number }> {
  const ids = files.map((file) => file.id);
  // Locked in the order of their ids: two questions with the same files at once wait for each other, and only wait.
  const { rows } = await sql.query<{ id: string; copied: boolean }>(
    `WITH wanted AS (
       SELECT a.* FROM owl.attachment a
        WHERE a.id = ANY($3::uuid[]) AND a.account_id = $2 ORDER BY a.id FOR UPDATE),
     bound AS (
       UPDATE owl.attachment a SET turn_id = $1, position = array_position($3::uuid[], a.id)
         FROM wanted w WHERE a.id = w.id AND w.turn_id IS NULL),
     copied AS (
       INSERT INTO owl.attachment (id, account_id, turn_id, position, ${CONTENT})
       SELECT ($4::uuid[])[array_position($3::uuid[], w.id)], w.account_id, $1, array_position($3::uuid[], w.id),
              ${CONTENT}
         FROM wanted w WHERE w.turn_id IS NOT NULL)
     SELECT id, turn_id IS NOT NULL AS copied FROM wanted`,
    [turn.id, turn.accountId, ids, files.map((file) => file.copyId)],
  );
  const found = new Set(rows.map((row) => row.id));
  return { missing: ids.filter((id) => !found.has(id)), copied: rows.filter(({ copied }) => copied).length };
}

/** Forgets files that were attached `hours` ago and never sent, at most `limit`; answers how many. */
export async function forgetUnsentAttachments(sql: Sql, hours: number, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM owl.attachment WHERE turn_id IS NULL AND id = ANY(ARRAY(
       SELECT id FROM owl.attachment
        WHERE turn_id IS NULL AND created_at < statement_timestamp() - make_interval(hours => $1) LIMIT $2))`,
    [hours, limit],
  );
  return rowCount;
}

/**
 * The files of a turn and of those it follows, the turn's own first, then the newest, with `characters`
 * characters of text in all.
 */
export async function listAttachedTexts(
  sql: Sql,
  turnId: string,
  characters: number,
): Promise<readonly (AttachedFile & { readonly id: string })[]> {
  const { rows } = await sql.query<AttachedFile & { readonly id: string }>(
    `SELECT f.id, f.name, f.bytes, f.characters, f.turn_id <> $1 AS "isEarlier", a.media_type IS NOT NULL AS "isImage",
            left(a.text, greatest(0, $2::bigint - f.before)::int) AS text
       FROM (SELECT a.id, a.turn_id, a.name, a.bytes, a.characters,
                    row_number() OVER by_age AS n, sum(a.characters) OVER by_age - a.characters AS before
               FROM owl.turn t
               JOIN owl.turn_path(t.id, 1000) w ON true
               JOIN owl.turn o ON o.id = w.id
               JOIN owl.attachment a ON a.turn_id = o.id
              WHERE t.id = $1
             WINDOW by_age AS (ORDER BY w.n, a.position, a.id)) f
       JOIN owl.attachment a ON a.id = f.id
      ORDER BY f.n LIMIT 100`,
    [turnId, characters],
  );
  return rows;
}

/** Those of the account's files that are images, as many of the first ones as have at most `bytes` in all. */
export async function readImages(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
  bytes: number,
): Promise<ReadonlyMap<string, ImageContent>> {
  const { rows } = await sql.query<ImageContent & { readonly id: string }>(
    `SELECT a.id, a.media_type AS "mediaType", a.image AS content
       FROM (SELECT o.id, sum(o.bytes) OVER (ORDER BY array_position($2::uuid[], o.id)) AS upto
               FROM owl.attachment o
              WHERE o.id = ANY($2::uuid[]) AND o.account_id = $1 AND o.media_type IS NOT NULL) f
       JOIN owl.attachment a ON a.id = f.id WHERE f.upto <= $3`,
    [accountId, ids, bytes],
  );
  return new Map(rows.map(({ id, ...image }) => [id, image]));
}

/** Which model a conversation's next question is for (null: the usual one), where some of those files are images. */
export async function findModelForImages(
  sql: Sql,
  conversation: { readonly id: string; readonly accountId: string },
  files: readonly string[],
): Promise<{ readonly model: string | null } | null> {
  const { rows } = await sql.query<{ model: string | null }>(
    `SELECT coalesce(c.model, s.model) AS model
       FROM owl.conversation c
       LEFT JOIN owl.assistant s ON s.id = c.assistant_id AND (s.account_id = c.account_id OR s.shared)
      WHERE c.id = $1 AND c.account_id = $2 AND EXISTS (
        SELECT 1 FROM owl.attachment a WHERE a.id = ANY($3::uuid[]) AND a.account_id = $2 AND a.media_type IS NOT NULL)`,
    [conversation.id, conversation.accountId, files],
  );
  return rows[0] ?? null;
}
