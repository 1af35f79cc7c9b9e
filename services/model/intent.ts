// What a question to the built-in responder asks for. Pure: words in, intent out.
// Invariant: linear cost. A keyword is looked for first, then what stands beside it; nothing is tried from every place.

export type Intent =
  | { readonly kind: "sql"; readonly source: string | undefined; readonly sql: string }
  | { readonly kind: "tables"; readonly source: string | undefined }
  | { readonly kind: "describe"; readonly source: string | undefined; readonly table: string }
  | { readonly kind: "count"; readonly source: string | undefined; readonly table: string }
  | { readonly kind: "search"; readonly words: string }
  | { readonly kind: "help" };

/** A question in words is no longer; a statement is read whole. */
const WORDS_LIMIT = 4_000;
const NAME_LIMIT = 200;
const SEARCH_LIMIT = 200;

const STATEMENT = /^(?:select|with|values|table|explain|show)\b/i;
const FENCE = "```";
const FENCE_HEAD = /(?:sql)?[^\S\n]*\n/iy;
const NAME_PART = /[\p{L}\p{N}_$."]/u;
const NAME_START = /[\p{L}_"][\p{L}\p{N}_$."]*/u;
const SPACE = /\s/;
const TABLES = /\b(?:tables?|schemas?|data sources?)\b|테이블|스키마|데이터\s*(?:소스|원본)/i;
const HOW_MANY = /몇\s*(?:건|개|행|줄)|건수|개수|행\s*수/g;
const STRUCTURE = /구조|컬럼|열|설명/g;
const RECORDINGS = new Set(["transcript", "transcripts", "recording", "recordings"]);

/** Reads a question. `sources`: names of the data sources, the default one first. */
export function readIntent(text: string, sources: readonly string[]): Intent {
  const asked = text.trim().slice(0, WORDS_LIMIT);
  const named = sources.find((name) =>
    new RegExp(`(?:^|[^\\p{L}\\p{N}_])@?${literally(name)}(?![\\p{L}\\p{N}_])`, "iu").test(asked),
  );
  const source = named ?? sources[0];
  const sql = statementIn(text);
  if (sql !== null) return { kind: "sql", source, sql };
  const words = asked.split(SPACE).filter((word) => word !== "");
  const lower = words.map((word) => word.toLowerCase());
  const count =
    nameAfter(words, afterCount(lower), ["of", "the", "rows", "in", "table"]) ?? nameBefore(asked, HOW_MANY);
  if (count !== null) return { kind: "count", source, table: count };
  const describe = nameAfter(words, afterDescribe(lower), ["the", "table"]) ?? nameBefore(asked, STRUCTURE);
  if (describe !== null) return { kind: "describe", source, table: describe };
  const search = searchedIn(words, lower) ?? searchedInKorean(asked);
  if (search !== null) return { kind: "search", words: search };
  return TABLES.test(asked) ? { kind: "tables", source } : { kind: "help" };
}

/** A statement by itself, after `sql:` or in a fence; a fence without one is taken at its word. */
function statementIn(text: string): string | null {
  const fenced = fencedIn(text);
  const plain = (fenced ?? text).trim();
  const told = /^sql\s*:/i.exec(plain)?.[0];
  if (told !== undefined) return plain.slice(told.length).trim() || null;
  const verb = STATEMENT.exec(plain)?.[0] ?? plain;
  if (verb.length < plain.length) return plain;
  return fenced?.trim() || null;
}

function fencedIn(text: string): string | null {
  for (let at = text.indexOf(FENCE); at !== -1; at = text.indexOf(FENCE, at + 1)) {
    FENCE_HEAD.lastIndex = at + FENCE.length;
    const head = FENCE_HEAD.exec(text);
    if (head === null) continue;
    const from = at + FENCE.length + head[0].length;
    const end = text.indexOf(FENCE, from);
    return end === -1 ? null : text.slice(from, end);
  }
  return null;
}

/** Where what follows `count` or `how many` begins among the words, or -1. */
function afterCount(words: readonly string[]): number {
  return words.findIndex((word, at) => word === "count" || (word === "many" && words[at - 1] === "how")) + 1;
}

function afterDescribe(words: readonly string[]): number {
  const isHead = (word: string, at: number) =>
    word === "describe" || (word === "of" && ["columns", "structure"].includes(words[at - 1] ?? ""));
  return words.findIndex(isHead) + 1;
}

/** The name that begins the first word from `from` on that is none of `passed`; null when there is none, or `from` is 0. */
function nameAfter(words: readonly string[], from: number, passed: readonly string[]): string | null {
  if (from === 0) return null;
  const word = words.slice(from).find((one) => !passed.includes(one.toLowerCase()));
  const found = word === undefined ? null : NAME_START.exec(word);
  return found?.index === 0 ? found[0] : null;
}

/** The name before the first of the keywords that has one: `orders 테이블의 구조`, `orders 건수`. */
function nameBefore(text: string, keywords: RegExp): string | null {
  for (const { index } of text.matchAll(keywords)) {
    const end = skipSpaceBack(text, index);
    const afterParticle = "의을를은는이가".includes(text[end - 1] ?? " ") ? end - 1 : end;
    const told = ["테이블", "Table", "table"].find((word) => text.endsWith(word, afterParticle));
    const named = told === undefined ? null : nameEnding(text, skipSpaceBack(text, afterParticle - told.length));
    // A particle is part of a Korean name as far as anybody can tell, and never of another one.
    const isParticle = afterParticle < end && /[\w"]/.test(text[afterParticle - 1] ?? "");
    const name = named ?? nameEnding(text, isParticle ? afterParticle : end);
    if (name !== null) return name;
  }
  return null;
}

function skipSpaceBack(text: string, end: number): number {
  let at = end;
  while (at > 0 && SPACE.test(text[at - 1] ?? "")) at -= 1;
  return at;
}

function nameEnding(text: string, end: number): string | null {
  let at = end;
  while (at > 0 && end - at < NAME_LIMIT && NAME_PART.test(text[at - 1] ?? "")) at -= 1;
  return NAME_START.exec(text.slice(at, end))?.[0] ?? null;
}

/** `search in the transcripts for X`, `find X in the recordings`. */
function searchedIn(words: readonly string[], lower: readonly string[]): string | null {
  const head = lower.findIndex((word) => word === "search" || word === "find");
  if (head === -1) return null;
  let from = head + 1;
  const about = lower.slice(from, from + 3).findIndex((word) => RECORDINGS.has(word));
  if (about !== -1 && lower.slice(from, from + about).every((word) => word === "in" || word === "the"))
    from += about + 1;
  if (lower[from] === "for") from += 1;
  let to = words.length;
  const last = (lower[to - 1] ?? "").replace(/[?.]$/, "");
  if (to - from > 2 && RECORDINGS.has(last)) {
    const beforeThe = lower[to - 2] === "the" ? to - 3 : to - 2;
    if (lower[beforeThe] === "in") to = beforeThe;
  }
  return unquoted(words.slice(from, to).join(" ").replace(/[?.]$/, ""));
}

/** `녹음에서 X 검색`, `X를 검색해줘`. */
function searchedInKorean(text: string): string | null {
  const about = /(?:녹음|녹취|전사)(?:에서|록에서|본에서)?/.exec(text);
  if (about !== null) {
    const from = about.index + about[0].length;
    const end = text.slice(from).search(/검색|찾아/);
    const found = end === -1 ? null : unquoted(withoutParticle(text.slice(from, from + end)));
    if (found !== null) return found;
  }
  const end = text.indexOf("검색");
  return end === -1 ? null : unquoted(withoutParticle(text.slice(text.lastIndexOf("\n", end) + 1, end)));
}

function withoutParticle(text: string): string {
  return text.trim().replace(/[을를]$/, "");
}

function unquoted(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^["“']/, "")
    .replace(/["”']$/, "");
  return bare.trim().slice(0, SEARCH_LIMIT) || null;
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
