import type { ComponentChild, ComponentChildren, VNode } from "preact";
import { expect, test } from "vitest";
import { Markdown } from "../../../../services/web/pages/chat/markdown.tsx";
import { safeImage, safeLink } from "../../../../services/web/pages/core/links.ts";

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
