// What a question to the built-in responder asks for. Pure: words in, intent out.

export type Intent =
  | { readonly kind: "sql"; readonly source: string | undefined; readonly sql: string }
  | { readonly kind: "tables"; readonly source: string | undefined }
  | { readonly kind: "describe"; readonly source: string | undefined; readonly table: string }
  | { readonly kind: "count"; readonly source: string | undefined; readonly table: string }
  | { readonly kind: "search"; readonly words: string }
  | { readonly kind: "help" };

const SQL = /^\s*(?:sql\s*:\s*)([\s\S]+)$|^\s*((?:select|with|values|table|explain|show)\b[\s\S]+)$/i;
const FENCE = /```(?:sql)?\s*\n([\s\S]+?)```/i;
const NAME = '[\\p{L}_"][\\p{L}\\p{N}_$."]*';
const DESCRIBE = [
  new RegExp(`(?:describe|columns of|structure of)\\s+(?:the\\s+)?(?:table\\s+)?(${NAME})`, "iu"),
  new RegExp(`(${NAME})\\s*(?:테이블)?(?:의|을|를)?\\s*(?:구조|컬럼|열|설명)`, "u"),
];
const COUNT = [
  new RegExp(
    `(?:count(?:\\s+(?:of|the|rows(?:\\s+(?:in|of))?))*|how many(?:\\s+rows(?:\\s+in)?)?)\\s+(?:the\\s+)?(?:table\\s+)?(${NAME})`,
    "iu",
  ),
  new RegExp(`(${NAME})\\s*(?:테이블)?(?:의|은|는|이|가)?\\s*(?:몇\\s*(?:건|개|행|줄)|건수|개수|행\\s*수)`, "u"),
];
const SEARCH = [
  /(?:search|find)\s+(?:(?:in\s+)?(?:the\s+)?(?:transcripts?|recordings?)\s+)?(?:for\s+)?["“']?(.+?)["”']?\s*(?:in\s+(?:the\s+)?(?:transcripts?|recordings?))?\s*[?.]?$/i,
  /(?:녹음|녹취|전사)(?:에서|록에서|본에서)?\s*["“']?(.+?)["”']?\s*(?:을|를)?\s*(?:검색|찾아)/,
  /["“']?(.+?)["”']?\s*(?:을|를)?\s*검색/,
];
const TABLES = /\b(tables?|schemas?|data sources?)\b|테이블|스키마|데이터\s*(?:소스|원본)/i;

/** Reads a question. `sources`: names of the data sources, the default one first. */
export function readIntent(text: string, sources: readonly string[]): Intent {
  const named = sources.find((name) =>
    new RegExp(`(^|[^\\p{L}\\p{N}_])@?${literally(name)}(?![\\p{L}\\p{N}_])`, "iu").test(text),
  );
  const source = named ?? sources[0];
  const fenced = FENCE.exec(text);
  const sql = SQL.exec(fenced?.[1] ?? text);
  const statement = sql?.[1] ?? sql?.[2] ?? fenced?.[1];
  if (statement) return { kind: "sql", source, sql: statement.trim() };
  const count = first(COUNT, text);
  if (count) return { kind: "count", source, table: count };
  const describe = first(DESCRIBE, text);
  if (describe) return { kind: "describe", source, table: describe };
  const words = first(SEARCH, text);
  if (words) return { kind: "search", words };
  if (TABLES.test(text)) return { kind: "tables", source };
  return { kind: "help" };
}

function first(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text.trim())?.[1];
    if (found) return found;
  }
  return null;
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
