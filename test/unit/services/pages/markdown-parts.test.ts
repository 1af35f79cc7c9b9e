// What an answer's text becomes: the tree, its bounds, and what it costs while it grows.

import { expect, test } from "vitest";
import { closeCutMarkdown } from "../../../../services/web/pages/core/open-markdown.ts";
import { type Growth, growMarkdown, type ParsedMarkdown } from "../../../../services/web/pages/markdown/growing.ts";
import { type Block, type Inline, parseMarkdown, plainText } from "../../../../services/web/pages/markdown/tree.ts";

const blocksOf = (text: string): readonly Block[] => parseMarkdown(text).map(({ block }) => block);

/** The inline content of a text's first paragraph. */
function inlineOf(text: string): readonly Inline[] {
  const [first] = blocksOf(text);
  return first?.kind === "paragraph" ? first.of : [];
}

const strongIn = (text: string): readonly string[] =>
  inlineOf(text).flatMap((one) => (one.kind === "strong" ? [plainText(one.of)] : []));

test.each([
  ["**“인용”**은", "“인용”"],
  ["**중요(重要)**입니다", "중요(重要)"],
  ["값은 **10%**를 넘는다", "10%"],
  ["**'따옴표'**라고 한다", "'따옴표'"],
  ["이것은**굵게**입니다", "굵게"],
])("Korean particles behind bold do not undo it: %s", (text, bold) => {
  expect(strongIn(text)).toEqual([bold]);
});

test.each([
  ["$$\\bar{x}_t + \\hat{y}_t$$", "\\bar{x}_t + \\hat{y}_t"],
  ["$$\n\\frac{a_1}{b_2}\n$$", "\\frac{a_1}{b_2}"],
  [
    "\\[\n\\begin{aligned}\na &= b_1 \\\\\nc &= d_2\n\\end{aligned}\n\\]",
    "\\begin{aligned}\na &= b_1 \\\\\nc &= d_2\n\\end{aligned}",
  ],
  ["text before\n$$\nx_1\n$$", "x_1"],
])("a formula on its own reaches the reader as it was written: %j", (text, source) => {
  expect(blocksOf(text).at(-1)).toEqual({ kind: "formula", source });
});

test.each([
  ["평균은 \\(\\bar{x}_t\\)이다", "\\bar{x}_t"],
  ["with $a_1 * b_1$ inside", "a_1 * b_1"],
  ["with $$a_1$$ inside", "a_1"],
])("a formula within a sentence keeps its marks: %s", (text, source) => {
  expect(inlineOf(text).find((one) => one.kind === "formula")).toMatchObject({ source });
});

test.each(["costs $5 and $6", "from $5/$6 on", "$ a $", "a \\$5 b \\$6", "only \\(open", "$$", "\\[x"])(
  "what is no formula is text: %s",
  (text) => {
    expect(JSON.stringify(blocksOf(text))).not.toContain('"formula"');
  },
);

test("links by reference lead on, wherever their address stands", () => {
  const [link] = inlineOf("[Owl][1]\n\n[1]: https://example.org/a");
  expect(link).toMatchObject({ kind: "link", href: "https://example.org/a" });
});

test("a footnote is known by its label, in the text and at its place", () => {
  const blocks = blocksOf("매출[^a]은 늘었다.\n\n[^a]: 2025년 **기준**\n    둘째 줄\n[^b]: other\n[c]: /x");
  expect(blocks[0]).toMatchObject({ kind: "paragraph", of: [{}, { kind: "noteMark", label: "a" }, {}] });
  expect(blocks.slice(1).map((block) => (block.kind === "note" ? block.label : block.kind))).toEqual(["a", "b"]);
});

test("tasks, tables and nested lists keep their parts", () => {
  const [tasks, table] = blocksOf("- [x] done **it**\n- [ ] open\n- plain\n\n| a | b |\n|---|--:|\n| 1 | `2` |");
  expect(tasks).toMatchObject({ kind: "list", items: [{ done: true }, { done: false }, { done: null }] });
  expect(table).toMatchObject({ kind: "table", align: [null, "right"], rows: [[[{ text: "1" }], [{ kind: "code" }]]] });
});

test("an answer's headings begin below the page's own and leave no level out", () => {
  const levels = blocksOf("### a\n### b\n##### c\n## d\n# e\n## f").map((block) =>
    block.kind === "heading" ? block.level : 0,
  );
  expect(levels).toEqual([2, 2, 3, 2, 2, 3]);
});

/** How deep the tree is. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const DEEP: readonly (readonly [string, (times: number) => string])[] = [
  ["lists", (times) => `${"- ".repeat(times)}x`],
  ["quotes with brackets", (times) => `${"> ".repeat(times)}${"[".repeat(times)}`],
  ["quotes and lists", (times) => `${"> - ".repeat(times)}x`],
  ["marks", (times) => `${"**a _b ".repeat(times)}${"_ c** ".repeat(times)}`],
  ["links", (times) => `${"[".repeat(times)}x${"](/y)".repeat(times)}`],
  ["pictures", (times) => `${"![".repeat(times)}x${"](/y)".repeat(times)}`],
  ["notes", (times) => `${"[^a]: ".repeat(times)}x`],
  ["notes in quotes", (times) => `[^a]: ${"> [^b]: ".repeat(times)}x`],
];

test.each(DEEP)("no depth of %s is beyond the bound, and what lies deeper is not lost", (_what, make) => {
  const blocks = blocksOf(make(3_000));
  expect(depthOf(blocks)).toBeLessThan(400);
  if (make(1).includes("x")) expect(JSON.stringify(blocks)).toContain("x");
});

/** How often the parser's rules were asked to look further: its own count of its work. */
function tokensOf(text: string): number {
  return JSON.stringify(parseMarkdown(text)).length;
}

test.each(DEEP)("twice as many %s make at most twice as much", (_what, make) => {
  expect(tokensOf(make(2_000))).toBeLessThan(2.2 * tokensOf(make(1_000)) + 2_000);
});

/** Feeds `text` in pieces, as it arrives, counting what the parser is given. */
function grown(
  text: string,
  pieceLength: number,
): { readonly parsed: ParsedMarkdown; readonly given: readonly number[] } {
  const given: number[] = [];
  let parsed: ParsedMarkdown | null = null;
  for (let end = pieceLength; end < text.length + pieceLength; end += pieceLength) {
    let here = 0;
    parsed = growMarkdown(parsed, text.slice(0, end), "growing", (part, headings) => {
      here += part.length;
      return parseMarkdown(part, headings);
    });
    given.push(here);
  }
  if (!parsed) throw new Error("nothing was fed");
  return { parsed, given };
}

const SECTION = `## 제목

문단 **굵게** 그리고 \`code\`, 끝[^1].

- 하나
- 둘
  - 셋

| a | b |
|---|---|
| 1 | 2 |

\`\`\`sql
SELECT 1;
\`\`\`

$$
x_t
$$

`;

test("a piece of a long answer gives the parser no more than one of a short answer", () => {
  const most = (times: number) => Math.max(...grown(SECTION.repeat(times), 17).given);
  expect(most(6)).toBeLessThan(SECTION.length);
  expect(most(60)).toBeLessThan(SECTION.length);
});

const TABLE_HEAD = "| 지역 | 매출 |\n|---|---:|\n";
const LONG_BLOCKS: readonly (readonly [string, string, (n: number) => string])[] = [
  ["a list", "", (n) => `- 항목 ${n} **굵게** \`code\`\n  - 안쪽 ${n}\n`],
  ["a numbered list", "", (n) => `${n + 1}. item ${n}\n`],
  ["a table", TABLE_HEAD, (n) => `| 서울 ${n} | ${n * 10} |\n`],
  ["code", "```sql\n", (n) => `SELECT ${n}, '값'; -- **not bold**\n\n`],
];

test.each(LONG_BLOCKS)("%s of any length costs a delta the same, and is what it is at once", (_name, head, line) => {
  const textOf = (lines: number) => head + Array.from({ length: lines }, (_, n) => line(n)).join("");
  // With what follows it.
  const end = head.startsWith("`") ? "```\n\n다음 문단\n\n끝" : "\n다음 문단\n\n끝";
  const [short, long] = [textOf(2_000) + end, textOf(4_000)];
  expect(short.length).toBeGreaterThan(25_000);
  const { parsed, given } = grown(short, 401);
  expect(Math.max(...given)).toBeLessThan(20_000);
  expect(Math.max(...grown(long, 401).given)).toBeLessThan(20_000);
  const blocks = ({ blocks: found }: ParsedMarkdown) => found.map(({ block, at }) => ({ block, at }));
  expect(blocks(parsed)).toEqual(blocks(growMarkdown(null, short, "whole")));
});

test.each([1, 3, 17])("grown by %i characters at a time it is what it is at once", (pieceLength) => {
  const text = `${SECTION.repeat(3)}para\n- list\n\n    code\n\n1. a\n\n2. b\nlazy\n***\n> q\nlazy\n\n#x\n# y\nend`;
  const plain = ({ blocks }: ParsedMarkdown) => blocks.map(({ block, at }) => ({ block, at }));
  expect(plain(grown(`${text}\n\nlast`, pieceLength).parsed)).toEqual(
    plain(growMarkdown(null, `${text}\n\nlast`, "whole")),
  );
});

test("settled blocks stay the very same objects", () => {
  const { parsed } = grown(SECTION, 40);
  const next = growMarkdown(parsed, `${SECTION}more`, "growing");
  expect(parsed.settled).toBeGreaterThan(3);
  for (let index = 0; index < parsed.settled; index++) expect(next.blocks[index]).toBe(parsed.blocks[index]);
});

test("another text, shorter or different, is begun anew", () => {
  const { parsed } = grown(SECTION, 40);
  expect(growMarkdown(parsed, "short", "growing").blocks).toHaveLength(1);
  expect(growMarkdown(parsed, `x${SECTION}`, "growing").settledTo).toBeGreaterThan(0);
});

test("the same text again costs nothing", () => {
  const once = growMarkdown(null, SECTION, "whole");
  const never = () => {
    throw new Error("parsed again");
  };
  for (const growth of ["whole"] satisfies Growth[]) expect(growMarkdown(once, SECTION, growth, never)).toBe(once);
});

test("what was said before an answer failed is laid out, and nothing of it is held back", () => {
  expect(closeCutMarkdown("a **bold")).toBe("a **bold**");
  expect(closeCutMarkdown("| a | b |")).toBe("| a | b |");
  expect(closeCutMarkdown("x\n\n- ")).toBe("x\n\n- ");
  expect(closeCutMarkdown("```sql\nSELECT **")).toBe("```sql\nSELECT **");
});
