import fc from "fast-check";
import { lexer, type Token } from "marked";
import { expect, test } from "vitest";
import { closeOpenMarkdown } from "../../../../services/web/pages/core/open-markdown.ts";

const WHOLE = `# Report

Some **bold text** and *emphasis* with \`code\` and ~~old~~ words, a [link](https://example.org/a) to follow.

\`\`\`sql
SELECT **not bold** FROM t;
\`\`\`

| name | count |
| --- | ---: |
| a | 1 |
| b | 22 |

1. first **item**
2. second \`item\`

- a
- b

> quoted **words**

The end: __strong__ and _soft_ and snake_case_name.
`;

/** What the reader would see as plain words (code blocks apart, where marks are meant). */
function shown(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token): string => {
      if (token.type === "code" || token.type === "codespan" || token.type === "space") return "";
      if (token.type === "list")
        return token.items.map((item: Token) => shown("tokens" in item ? item.tokens : [])).join(" ");
      if (token.type === "table") {
        return [...token.header, ...token.rows.flat()].map((cell: { tokens: Token[] }) => shown(cell.tokens)).join(" ");
      }
      if ("tokens" in token && token.tokens) return shown(token.tokens);
      return "text" in token ? String(token.text) : token.raw;
    })
    .join(" ");
}

test("no frame of a growing answer shows a bare mark", () => {
  for (let end = 1; end <= WHOLE.length; end++) {
    const text = shown(lexer(closeOpenMarkdown(WHOLE.slice(0, end)), { gfm: true }));
    expect(text, JSON.stringify(WHOLE.slice(Math.max(0, end - 40), end))).not.toMatch(/```|\*\*|~~|__|\]\(/);
    expect(text, JSON.stringify(WHOLE.slice(Math.max(0, end - 40), end))).not.toMatch(/\|/);
    expect(text).not.toMatch(/(^|\s)[*`#]+(\s|$)/);
  }
});

test("the whole text is shown as it is once its last block is closed", () => {
  const strip = (text: string) =>
    shown(lexer(text, { gfm: true }))
      .replace(/\s+/g, " ")
      .trim();
  expect(strip(closeOpenMarkdown(WHOLE))).toBe(strip(WHOLE));
});

test("an open fence holds everything that follows as code, without the half of its end", () => {
  const [code] = lexer(closeOpenMarkdown("```js\nlet a = 1;\n``"));
  expect(code).toMatchObject({ type: "code", text: "let a = 1;" });
});

test("any text, cut anywhere, gives text that can be read on", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("*", "`", "_", "~", "|", "\n", " ", "a", "-", "[", "]", "(", ")", "#", "1", "."),
      }),
      (text) => {
        expect(typeof closeOpenMarkdown(text)).toBe("string");
        lexer(closeOpenMarkdown(text));
      },
    ),
    { numRuns: 500, seed: 1 },
  );
});
