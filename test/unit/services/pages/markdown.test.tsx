import type { ComponentChild, ComponentChildren, VNode } from "preact";
import { expect, test } from "vitest";
import { Markdown } from "../../../../services/web/pages/chat/markdown.tsx";
import { safeImage, safeLink } from "../../../../services/web/pages/core/links.ts";
import { growMarkdown, type ParsedMarkdown } from "../../../../services/web/pages/markdown/growing.ts";
import { parseMarkdown } from "../../../../services/web/pages/markdown/tree.ts";

interface Seen {
  readonly tag: string;
  readonly props: Readonly<Record<string, unknown>>;
}

type Draw = (props: Record<string, unknown>) => ComponentChildren;

/** Draws a tree by hand: every element it would make, and every text. */
function draw(node: ComponentChildren, elements: Seen[], texts: string[]): void {
  if (node === null || node === undefined || typeof node === "boolean") return;
  if (Array.isArray(node)) {
    for (const child of node) draw(child as ComponentChild, elements, texts);
    return;
  }
  if (typeof node !== "object") {
    texts.push(String(node));
    return;
  }
  const { type, props } = node as VNode<Record<string, unknown>>;
  if (typeof type === "string") {
    elements.push({ tag: type, props });
    draw(props.children as ComponentChildren, elements, texts);
    return;
  }
  const component = type as unknown as (Draw & { prototype?: { render?: unknown } }) | undefined;
  if (component?.prototype?.render) {
    const instance = new (
      component as unknown as new (
        props: unknown,
      ) => { props: unknown; render(): ComponentChildren }
    )(props);
    instance.props = props;
    draw(instance.render(), elements, texts);
  } else elements.push({ tag: component?.name ?? "?", props });
}

function drawn(text: string): { readonly elements: readonly Seen[]; readonly text: string } {
  const elements: Seen[] = [];
  const texts: string[] = [];
  draw(<Markdown text={text} name="t" />, elements, texts);
  return { elements, text: texts.join("") };
}

const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:msgbox)",
  "![x](https://evil.example/a.png?secret)",
  "![x](//evil.example/a.png)",
  "![x](/\\evil.example/a.png)",
  "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  "<svg/onload=alert(1)>",
  "<a href='javascript:alert(1)'>x</a>",
  "<iframe src=https://evil.example></iframe>",
  '[x](https://ok.example "onmouseover=alert(1)")',
  "<https://ok.example/><style>*{display:none}</style>",
  "- <details open ontoggle=alert(1)>",
  "| <b onclick=alert(1)>a</b> |\n| --- |\n| <script>x</script> |",
  "[ref]: javascript:alert(1)\n\n[ref]",
  "`<script>`",
];

const ALLOWED = new Set(
  "div p span ul ol li h2 h3 h4 h5 h6 blockquote hr strong em del code br a img input CodeBlock DataTable FormulaView NoteMark sup".split(
    " ",
  ),
);

test.each(HOSTILE)("hostile input makes only harmless elements: %s", (text) => {
  const { elements } = drawn(text);
  for (const { tag, props } of elements) {
    expect(ALLOWED).toContain(tag);
    expect(Object.keys(props).filter((name) => /^on|dangerously/i.test(name))).toEqual([]);
    if (tag === "a") expect(String(props.href)).toMatch(/^(https?:\/\/|mailto:)/);
    if (tag === "img") expect(String(props.src)).toMatch(/^\/[^/\\]/);
  }
});

test("raw HTML is shown as text", () => {
  expect(drawn("<script>alert(1)</script>").text).toContain("<script>alert(1)</script>");
});

test("links lead to http, https and mailto only", () => {
  expect(safeLink("https://example.org/a b")).toBe("https://example.org/a%20b");
  expect(safeLink("mailto:a@example.org")).toBe("mailto:a@example.org");
  for (const bad of [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "//evil.example",
    "/x",
    "ftp://x",
  ]) {
    expect(safeLink(bad), bad).toBeNull();
  }
});

test("pictures come from our own paths only", () => {
  expect(safeImage("/icon.svg")).toBe("/icon.svg");
  for (const bad of ["https://evil.example/a", "//evil.example/a", "/\\evil.example", "data:image/png,x", "icon.svg"]) {
    expect(safeImage(bad), bad).toBeNull();
  }
});

test("character references are read once", () => {
  expect(drawn("a &lt; b &amp;amp; &#44032;&#x1F989; &nope; &#0;").text).toBe("a < b &amp; 가🦉 &nope; \ufffd");
});

test("tables, code and task lists become their own elements", () => {
  const { elements } = drawn("| a | b |\n|---|--:|\n| 1 | 2 |\n\n```ts\nlet a;\n```\n\n- [x] done\n- [ ] open");
  const table = elements.find(({ tag }) => tag === "DataTable");
  expect(table?.props).toMatchObject({ head: ["a", "b"], rows: [["1", "2"]], align: [null, "right"] });
  expect(elements.find(({ tag }) => tag === "CodeBlock")?.props).toMatchObject({ code: "let a;", language: "ts" });
  expect(elements.filter(({ tag }) => tag === "input").map(({ props }) => props.checked)).toEqual([true, false]);
});

/** Every construct, in Korean and English; `n` makes each section another one. */
const everything = (n: number): string => `## ${n}. 월별 매출 보고 *${n}*

**“인용”**은 **중요(重要)**입니다. ~~취소~~ \`code ${n}\` $$\\bar{x}_{${n}}$$ 그리고 \\(y_${n}\\), [링크](https://example.org/${n})와 [참조][ref], 각주[^n${n}].
줄을 바꾸고  
https://example.org/자동?n=${n} <b>태그</b> &amp; ![그림](/icon.svg) <!-- 없음 -->

- [x] 한 일 ${n}
- [ ] 할 일
  1. 첫째
     > 인용 안의 **굵은 글**

     \`\`\`sql
     SELECT ${n};
     \`\`\`
  2. 둘째

| 지역 | 매출 | 비고 |
|:-----|-----:|:----:|
| 서울 | ${n} | **큼** \\| 막대 |
| 부산 | ${n * 2} | \`a|b\` |

$$
\\sum_{i=1}^{${n}} x_i
$$

\`\`\`python
print("**굵지 않음**", ${n})
\`\`\`

> 인용
> > 겹친 인용 ${"> ".repeat(40)}깊이

제목 ${n}
---

[^n${n}]: 각주의 글 **${n}**.

***

`;

test("200 KB of every construct grow at the same small cost a piece, and are drawn without a fault", () => {
  const text = `${Array.from({ length: 330 }, (_, n) => everything(n)).join("")}[ref]: https://example.org/ref\n`;
  expect(Buffer.byteLength(text)).toBeGreaterThan(200_000);
  const longest = everything(329).length;
  let grown: ParsedMarkdown | null = null;
  for (let end = 61; end < text.length + 61; end += 61) {
    let parsed = 0;
    grown = growMarkdown(grown, text.slice(0, end), "growing", (part, headings) => {
      parsed += part.length;
      return parseMarkdown(part, headings);
    });
    expect(parsed).toBeLessThan(longest + 61);
  }
  const { elements, text: shown } = drawn(text);
  const count = (tag: string): number => elements.filter((one) => one.tag === tag).length;
  expect([count("DataTable"), count("NoteMark"), count("input")]).toEqual([330, 330, 660]);
  expect(count("FormulaView")).toBe(3 * 330);
  expect(shown).toContain("<b>태그</b>");
  expect(shown).not.toContain("**“인용”**");
});
