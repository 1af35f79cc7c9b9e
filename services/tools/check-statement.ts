// What a statement may not even name. A member's role in the database decides what is possible; this keeps what every
// role may do by default (see and end statements of the same role, locks, WAL, settings) out of a shared source.
// Invariant: names are looked for in the whole text, strings included, so that no way of quoting hides one; linear.

import { failure } from "../core/wire/errors.ts";

const READS = /^(select|with|values|table|explain|show)\b/i;

/** Of PostgreSQL's own names those that a question about data needs; every other `pg_…` is refused. */
const KNOWN = new RegExp(
  `^pg_(${[
    "catalog|temp|toast|sleep|typeof|size_pretty|size_bytes|column_size|relation_size|table_size|indexes_size",
    "total_relation_size|database_size|get_\\w+|class|namespace|attribute|attrdef|type|enum|range|index|indexes|tables",
    "views|matviews|proc|description|constraint|inherits|sequence|sequences|settings|collation|database|roles|extension",
    "operator|am|trigger|rules|stats|stat_(user|all)_(tables|indexes)|partitioned_table|partition_tree|partition_root",
    "table_is_visible|timezone_names|timezone_abbrevs|encoding_to_char|backend_pid|is_in_recovery|version|input_is_valid",
  ].join("|")})$`,
  "i",
);
const OWN_NAME = /(?<![\p{L}\p{N}_$])pg_[\w$]+/giu;

/** Not `pg_…`, and yet no reading: settings, large objects, other servers, and texts that are run as statements. */
const REFUSED =
  /(?<![\p{L}\p{N}_$])(set_config|lo_(?:import|export|creat|create|open|close|from_bytea|get|put|lseek|lseek64|tell|tell64|truncate|truncate64|unlink)|loread|lowrite|dblink\w*|(?:query|cursor|table|schema|database)_to_xml\w*|ts_stat|ts_rewrite)(?![\p{L}\p{N}_$])/iu;

/** An identifier spelt in escapes could be any name. */
const ESCAPED_NAME = /u&"/i;

/** The largest number a text may be repeated or filled up to. */
const MOST_REPEATED = 1_000_000;
const REPEATS = /(?<![\p{L}\p{N}_$])(repeat|lpad|rpad|array_fill)\s*\(/giu;
/** Of repetitions within repetitions: the largest product. */
const MOST_NESTED = 10 * MOST_REPEATED;
/** What makes a large number of small ones, and numbers in another spelling. */
const GROWS = /<<|\^|(?<![\p{L}\p{N}_$])(?:(?:power|pow|dpow|exp|factorial|shl)\s*\(|(?<!')[xb]'|0[xob])/iu;
/** With these in it a statement's quotes pair up otherwise than they look: then nothing of it is taken for a text. */
const ODD_QUOTES = /[\\$"]|--|\/\*/;
/** A width in a text of `format`: of seven digits, or an argument. */
const WIDE = /%[-\d$]*(?:\d{7}|\*)/;
const LARGE = /(?<![\p{L}\p{N}_$.])(\d[\d_]*(?:\.\d*)?(?:e\+?\d+)?)/giu;

/** What a statement sees of sessions: its own, whoever else's share its role. It stands before the catalogue's view. */
const OWN_SESSION = `pg_stat_activity AS (SELECT current_database()::text AS datname, pg_backend_pid() AS pid,
  current_user::text AS usename, current_setting('application_name') AS application_name, xact_start, query_start,
  'active'::text AS state, current_query() AS query
  FROM (VALUES (transaction_timestamp(), statement_timestamp())) AS now (xact_start, query_start))`;

/** The statement to run for `sql`. Throws `sql.refused` for one that does not only read data. */
export function readingStatement(sql: string): string {
  checkStatement(sql);
  if (!/pg_stat_activity/i.test(sql)) return sql;
  const begin = beginOf(sql);
  const own = /^with(\s+recursive)?\b/i.exec(sql.slice(begin, begin + 100))?.[0];
  if (own === undefined) return `WITH ${OWN_SESSION} ${sql}`;
  return `${sql.slice(0, begin)}${own} ${OWN_SESSION}, ${sql.slice(begin + own.length)}`;
}

function checkStatement(sql: string): void {
  const begin = beginOf(sql);
  if (!READS.test(sql.slice(begin, begin + 20))) {
    throw failure("sql.refused#writes");
  }
  // Not by its schema, which would be the view with everybody's statements.
  const mayActivity = !/pg_catalog/i.test(sql) && /^(select|with|values|table)\b/i.test(sql.slice(begin, begin + 20));
  const isKnown = (name: string): boolean =>
    KNOWN.test(name) || (mayActivity && name.toLowerCase() === "pg_stat_activity");
  const named = sql.match(OWN_NAME)?.find((name) => !isKnown(name)) ?? REFUSED.exec(sql)?.[1];
  if (named !== undefined) throw failure("sql.refused#closed", { name: named });
  if (ESCAPED_NAME.test(sql)) throw failure("sql.refused#escaped");
  checkRepeats(sql);
}

/**
 * Against the accident and the plain attack, not a bound: what a text grows to may depend on the data, and PostgreSQL
 * bounds no session's memory but by 1 GB a value.
 */
function checkRepeats(sql: string): void {
  const refuse = (name: string) => failure("sql.refused#repeats", { name, most: MOST_REPEATED });
  if (/(?<![\p{L}\p{N}_$])format\s*\(/iu.test(sql) && WIDE.test(sql)) throw refuse("format");
  const repeats = [...sql.matchAll(REPEATS)].map(([, name = ""]) => name.toLowerCase());
  const [first] = repeats;
  if (first === undefined) return;
  // Which number belongs to which call is not known: the largest ones are taken for theirs.
  const largest = numbersIn(sql)
    .sort((a, b) => b - a)
    .slice(0, repeats.length);
  const product = largest.reduce((all, one) => all * Math.max(1, one), 1);
  const isLarge =
    Math.max(0, ...largest) > MOST_REPEATED || product > (repeats.length > 1 ? MOST_NESTED : MOST_REPEATED);
  const bare = ODD_QUOTES.test(sql) ? sql : sql.replace(/'[^']*'/g, "''");
  if (isLarge || GROWS.test(bare)) throw refuse(first);
}

/** The numbers written in a statement; those that stand multiplied by one another as their product. */
function numbersIn(sql: string): number[] {
  const numbers: number[] = [];
  let end = 0;
  for (const { 0: text, index } of sql.matchAll(LARGE)) {
    const value = Number(text.replaceAll("_", ""));
    const isFactor = numbers.length > 0 && sql.slice(end, index).trim() === "*";
    numbers.push(isFactor ? value * (numbers.pop() ?? 1) : value);
    end = index + text.length;
  }
  return numbers;
}

/** Where the statement begins: after white space, comments and opening brackets. */
function beginOf(sql: string): number {
  let at = 0;
  for (;;) {
    const comment = sql.startsWith("--", at) ? "\n" : sql.startsWith("/*", at) ? "*/" : null;
    if (comment !== null) {
      const end = sql.indexOf(comment, at + 2);
      if (end === -1) return sql.length;
      at = end + comment.length;
    } else if (at < sql.length && /[\s(]/.test(sql[at] ?? "")) at += 1;
    else return at;
  }
}
