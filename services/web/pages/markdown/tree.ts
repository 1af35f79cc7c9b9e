// Markdown as a tree of our own: markdown-it's tokens by allow-list. Invariants: no depth beyond DEEPEST, however deep
// the text nests (what lies deeper is its text); raw HTML is text; cost grows with the text and no faster.

import MarkdownIt, { type Token } from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";
import { useFormulas } from "./formula-rules.ts";
import { useNotes } from "./note-rules.ts";

export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "formula"; readonly source: string; readonly isDisplay: boolean }
  | { readonly kind: "break" }
  | { readonly kind: "strong" | "em" | "del"; readonly of: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly of: readonly Inline[] }
  | { readonly kind: "image"; readonly src: string; readonly text: string }
  | { readonly kind: "noteMark"; readonly label: string };

export interface ListItem {
  /** Of a task: whether it is done; null: no task. */
  readonly done: boolean | null;
  readonly of: readonly Block[];
}

type Align = "left" | "center" | "right" | null;

export type Block =
  | { readonly kind: "paragraph"; readonly of: readonly Inline[]; readonly isTight: boolean }
  | { readonly kind: "heading"; readonly level: number; readonly of: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string; readonly language: string }
  | { readonly kind: "quote"; readonly of: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | null; readonly items: readonly ListItem[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
      readonly align: readonly Align[];
    }
  | { readonly kind: "formula"; readonly source: string }
  | { readonly kind: "note"; readonly label: string; readonly of: readonly Block[] }
  | { readonly kind: "rule" };

/** A block on the first level, and where its text begins. */
export interface TopBlock {
  readonly at: number;
  readonly block: Block;
  /** Ranks of the headings that stand open behind it. */
  readonly headings: readonly number[];
}

const DEEPEST = 24;

const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: 2 * DEEPEST });
parser.use(cjkFriendly).use(useFormulas).use(useNotes);
// Where a link may lead is judged where it is drawn; its text is shown in any case.
parser.validateLink = () => true;
parser.block.ruler.before("table", "too_deep", (state, startLine, endLine, silent) => {
  if (state.level < DEEPEST) return false;
  if (silent) return true;
  const token = state.push("deep", "", 0);
  token.content = state.getLines(startLine, endLine, state.blkIndent, false);
  state.line = endLine;
  return true;
});

/** The blocks of `text`; `headings`: those that stand open before it. */
export function parseMarkdown(text: string, headings: readonly number[] = []): readonly TopBlock[] {
  const tokens = parser.parse(text, {});
  const starts = lineStarts(text);
  const walk: Walk = { tokens, at: 0, headings: [...headings] };
  const found: TopBlock[] = [];
  while (walk.at < tokens.length) {
    const line = tokens[walk.at]?.map?.[0] ?? 0;
    const block = nextBlock(walk);
    if (block) found.push({ at: starts[line] ?? text.length, block, headings: [...walk.headings] });
  }
  return found;
}

/** Where each line begins, counted as the parser counts them. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n")) starts.push(at + 1);
  }
  return starts;
}

interface Walk {
  readonly tokens: readonly Token[];
  at: number;
  readonly headings: number[];
}

/** The blocks up to the token that closes them, which is passed. */
function blocksUntil(walk: Walk, close: string): readonly Block[] {
  const found: Block[] = [];
  while (walk.at < walk.tokens.length && walk.tokens[walk.at]?.type !== close) {
    const block = nextBlock(walk);
    if (block) found.push(block);
  }
  walk.at += 1;
  return found;
}

function nextBlock(walk: Walk): Block | null {
  const token = walk.tokens[walk.at];
  walk.at += 1;
  if (!token) return null;
  switch (token.type) {
    case "paragraph_open":
      return { kind: "paragraph", of: inlineBefore(walk), isTight: token.hidden };
    case "heading_open":
      return { kind: "heading", level: headingLevel(walk.headings, Number(token.tag[1])), of: inlineBefore(walk) };
    case "fence":
    case "code_block":
      return { kind: "code", text: token.content.replace(/\n$/, ""), language: token.info.trim().split(/\s/)[0] ?? "" };
    case "blockquote_open":
      return { kind: "quote", of: blocksUntil(walk, "blockquote_close") };
    case "bullet_list_open":
      return { kind: "list", start: null, items: listItems(walk, "bullet_list_close") };
    case "ordered_list_open":
      return { kind: "list", start: Number(token.attrGet("start") ?? 1), items: listItems(walk, "ordered_list_close") };
    case "table_open":
      return table(walk);
    case "formula_block":
      return { kind: "formula", source: token.content };
    case "note": {
      const { label, text } = token.meta as { readonly label: string; readonly text: string };
      const inner: Walk = { tokens: parser.parse(text, { isNote: true }), at: 0, headings: walk.headings };
      return { kind: "note", label, of: blocksUntil(inner, "") };
    }
    case "deep":
      return { kind: "paragraph", of: [{ kind: "text", text: token.content }], isTight: false };
    case "hr":
      return { kind: "rule" };
    default:
      return null;
  }
}

/** The inline content of the block just opened; passes the block's end. */
function inlineBefore(walk: Walk): readonly Inline[] {
  const token = walk.tokens[walk.at];
  walk.at += 2;
  return inlineTree(token?.children ?? []);
}

/**
 * The level an answer's heading is shown at: below the page's own first one, and no level left out, whatever rank the
 * answer begins with.
 */
function headingLevel(open: number[], rank: number): number {
  while ((open.at(-1) ?? 0) >= rank) open.pop();
  open.push(rank);
  return Math.min(6, open.length + 1);
}

function listItems(walk: Walk, close: string): readonly ListItem[] {
  const items: ListItem[] = [];
  while (walk.at < walk.tokens.length && walk.tokens[walk.at]?.type !== close) {
    const isItem = walk.tokens[walk.at]?.type === "list_item_open";
    walk.at += 1;
    if (isItem) items.push(asTask(blocksUntil(walk, "list_item_close")));
  }
  walk.at += 1;
  return items;
}

/** `[ ] …` and `[x] …` are tasks. */
function asTask(of: readonly Block[]): ListItem {
  const [first, ...rest] = of;
  const [word, ...others] = first?.kind === "paragraph" ? first.of : [];
  const mark = word?.kind === "text" ? /^\[([ xX])\](?:\s|$)/.exec(word.text) : null;
  if (first?.kind !== "paragraph" || word?.kind !== "text" || !mark) return { done: null, of };
  const text: Inline = { kind: "text", text: word.text.slice(mark[0].length) };
  return { done: mark[1] !== " ", of: [{ ...first, of: [text, ...others] }, ...rest] };
}

function table(walk: Walk): Block {
  const rows: (readonly Inline[])[][] = [];
  const align: Align[] = [];
  for (; walk.at < walk.tokens.length; walk.at++) {
    const token = walk.tokens[walk.at];
    if (token?.type === "table_close") break;
    if (token?.type === "tr_open") rows.push([]);
    if (token?.type !== "th_open" && token?.type !== "td_open") continue;
    if (token.type === "th_open") align.push(alignOf(attribute(token, "style")));
    rows.at(-1)?.push(inlineTree(walk.tokens[walk.at + 1]?.children ?? []));
  }
  walk.at += 1;
  const [head = [], ...body] = rows;
  return { kind: "table", head, rows: body, align };
}

const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? "");

const alignOf = (style: string): Align =>
  (["left", "center", "right"] as const).find((side) => style === `text-align:${side}`) ?? null;

const SPANS: Readonly<Record<string, "strong" | "em" | "del">> = { strong: "strong", em: "em", s: "del" };

/** A tree of flat tokens; what is opened below DEEPEST is left open: its content stands where it would have begun. */
function inlineTree(tokens: readonly Token[]): readonly Inline[] {
  const root: Inline[] = [];
  const open: Inline[][] = [root];
  let tooDeep = 0;
  for (const token of tokens) {
    const here = open.at(-1) ?? root;
    if (token.nesting === 1) {
      const of: Inline[] = [];
      const kind = SPANS[token.tag];
      if (open.length > DEEPEST) tooDeep += 1;
      else {
        here.push(kind ? { kind, of } : { kind: "link", href: attribute(token, "href"), of });
        open.push(of);
      }
    } else if (token.nesting === -1) {
      if (tooDeep > 0) tooDeep -= 1;
      else open.pop();
    } else here.push(leaf(token));
  }
  return root;
}

function leaf(token: Token): Inline {
  switch (token.type) {
    case "code_inline":
      return { kind: "code", text: token.content };
    case "softbreak":
      return { kind: "text", text: "\n" };
    case "hardbreak":
      return { kind: "break" };
    case "image":
      return { kind: "image", src: attribute(token, "src"), text: token.content };
    case "formula":
      return { kind: "formula", source: token.content, isDisplay: token.meta?.isDisplay === true };
    case "note_mark":
      return { kind: "noteMark", label: token.content };
    default:
      return { kind: "text", text: token.content };
  }
}

/** The text without its marks: for CSV, sorting and labels. */
export function plainText(of: readonly Inline[]): string {
  return of
    .map((one) => {
      if (one.kind === "break") return "\n";
      if (one.kind === "formula") return one.source;
      if (one.kind === "noteMark") return "";
      return "of" in one ? plainText(one.of) : one.text;
    })
    .join("");
}
