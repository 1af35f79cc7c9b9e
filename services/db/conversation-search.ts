// Words looked for in an account's conversations: titles, questions, answers. Invariant: a search reads a bounded part
// and says when that was not all. With the search index (late-indexes.ts) that is everything, within `SEARCH_MS`;
// without it, or past that time, the conversations after the mark, a few hundred a page.

import { type ConversationListRow, type ConversationQuery, LISTED, LISTED_WHERE } from "./conversations.ts";
import { beforeValues, cursorText } from "./keyset.ts";
import { SEARCH_INDEX } from "./late-indexes.ts";
import type { Database, Sql } from "./pool.ts";

export interface FoundConversation extends ConversationListRow {
  /** The newest turn that holds the words, and a passage of it around them; null: only the title does. */
  readonly found: { readonly turnId: string; readonly text: string } | null;
}

interface FoundConversations {
  readonly rows: readonly FoundConversation[];
  /** The mark to go on from; null: there is nothing further back. */
  readonly next: { readonly cursor: string; readonly id: string } | null;
  /** False: only the newest conversations were looked through, `next` goes on with older ones. */
  readonly isWhole: boolean;
}

type ConversationSearch = ConversationQuery & {
  /** Not empty. */
  readonly words: string;
};

const SEARCH_MS = 3_000;
/** Conversations looked through at once without the index, and the newest turns of each. */
const LOOKED_AT = 300;
const TURNS_EACH = 20;
/** Turns the index may name for one search: more of them are told by their newest. */
const MOST_HITS = 5_000;
/** Characters looked at of a question that is not answered yet and so in no index: there may be many, and long ones. */
const OPEN_CHARACTERS = 2_000;
/** Characters of the passage shown, and those of it before the words. */
const PASSAGE = 160;
const BEFORE_WORDS = 40;

const patternOf = (words: string): string => `%${words.replace(/[\\%_]/g, "\\$&")}%`;

/** One page of the account's conversations that hold these words, newest activity first. */
export async function searchConversations(db: Database, search: ConversationSearch): Promise<FoundConversations> {
  if (hasTrigram(search.words)) {
    const rows = await db
      .transaction((sql) => byIndex(sql, search))
      .catch((error: unknown) => {
        if ((error as { code?: string } | null)?.code === TOO_LONG) return null;
        throw error;
      });
    if (rows !== null) return pageOf(rows, search.limit, true, null);
  }
  return lookThrough(db, search);
}

const TOO_LONG = "57014";

/** What the index can be asked for: three letters or digits in a row somewhere. */
function hasTrigram(words: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(words);
}

/** null: there is no index to ask. */
async function byIndex(sql: Sql, search: ConversationSearch): Promise<readonly FoundConversation[] | null> {
  const { rows: indexes } = await sql.query<{ there: boolean }>(
    `SELECT set_config('statement_timeout', $2, true), set_config('plan_cache_mode', 'force_custom_plan', true),
            set_config('enable_seqscan', 'off', true),
            coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)), false) AS there`,
    [SEARCH_INDEX, String(SEARCH_MS)],
  );
  if (!indexes[0]?.there) return null;
  const { rows } = await sql.query<FoundConversation>(SEARCH_TEXT, searchValues(search));
  return rows;
}

/** Of the turn `turn`, NULL where there is none; `words` and `pattern` are parameters. */
const foundText = (turn: string, words: string, pattern: string): string => `(
    SELECT jsonb_build_object('turnId', s.id, 'text', substr(s.words,
             greatest(1, position(lower(${words}) IN lower(s.words)) - ${BEFORE_WORDS}), ${PASSAGE}))
      FROM (SELECT t.id, CASE WHEN t.text ILIKE ${pattern} THEN t.text ELSE coalesce(t.answer, '') END AS words
              FROM owl.turn t WHERE t.id = ${turn}) s) AS found`;

const SEARCH_TEXT = `WITH hits AS MATERIALIZED (
    (SELECT t.conversation_id, t.id, t.created_at FROM owl.turn t
      WHERE t.account_id = $1 AND t.ended_at IS NOT NULL AND (t.text ILIKE $6 OR t.answer ILIKE $6) LIMIT ${MOST_HITS})
    UNION ALL
    SELECT t.conversation_id, t.id, t.created_at FROM owl.turn t
     WHERE t.account_id = $1 AND t.state IN ('queued', 'running', 'waiting') AND left(t.text, ${OPEN_CHARACTERS}) ILIKE $6),
  newest AS MATERIALIZED (
    SELECT DISTINCT ON (conversation_id) conversation_id, id FROM hits ORDER BY conversation_id, created_at DESC, id DESC),
  page AS MATERIALIZED (
    SELECT ${LISTED} FROM owl.conversation c
     WHERE ${LISTED_WHERE} AND (c.title ILIKE $6 OR c.id IN (SELECT conversation_id FROM newest))
     ORDER BY c.updated_at DESC, c.id DESC LIMIT $5)
  SELECT page.*, ${foundText("newest.id", "$7", "$6")} FROM page LEFT JOIN newest ON newest.conversation_id = page.id
   ORDER BY page."updatedAt" DESC, page.id DESC`;

function searchValues(search: ConversationSearch): unknown[] {
  const { accountId, archived, before, limit, words } = search;
  return [accountId, archived, ...beforeValues(before), limit + 1, patternOf(words), words];
}

async function lookThrough(sql: Sql, search: ConversationSearch): Promise<FoundConversations> {
  const { accountId, archived, before, limit, words } = search;
  const { rows } = await sql.query<FoundConversation & { hit: boolean; looked: number; end: string; endId: string }>(
    `WITH looked AS MATERIALIZED (
       SELECT c.* FROM owl.conversation c WHERE ${LISTED_WHERE}
        ORDER BY c.updated_at DESC, c.id DESC LIMIT ${LOOKED_AT})
     SELECT ${LISTED}, l.n AS looked, ${cursorText("l.at")} AS end, l.id AS "endId", c.id IS NOT NULL AS hit,
            ${foundText("c.hit_id", "$6", "$5")}
       FROM (SELECT count(*) OVER ()::int AS n, updated_at AS at, id FROM looked
              ORDER BY updated_at, id LIMIT 1) l
       LEFT JOIN (SELECT looked.*, h.id AS hit_id FROM looked LEFT JOIN LATERAL (
           SELECT newest.id FROM (SELECT t.id, t.text, t.answer FROM owl.turn t WHERE t.conversation_id = looked.id
                                   ORDER BY t.created_at DESC, t.id DESC LIMIT ${TURNS_EACH}) newest
            WHERE newest.text ILIKE $5 OR newest.answer ILIKE $5 LIMIT 1) h ON true
          WHERE looked.title ILIKE $5 OR h.id IS NOT NULL) c ON true
      ORDER BY c.updated_at DESC NULLS LAST, c.id DESC`,
    [accountId, archived, ...beforeValues(before), patternOf(words), words],
  );
  const [first] = rows;
  if (first === undefined) return { rows: [], next: null, isWhole: before === null };
  const isRest = first.looked < LOOKED_AT;
  const end = isRest ? null : { cursor: first.end, id: first.endId };
  const found = rows.filter(({ hit }) => hit);
  return pageOf(found, limit, isRest && before === null, end);
}

/** `end`: where what was looked through ends, when there is more behind it. */
function pageOf(
  found: readonly FoundConversation[],
  limit: number,
  isWhole: boolean,
  end: FoundConversations["next"],
): FoundConversations {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isCut = found.length > limit && last !== undefined;
  return { rows, next: isCut ? { cursor: last.cursor, id: last.id } : end, isWhole };
}
