import fc from "fast-check";
import { expect, test } from "vitest";
import { closeOpenMarkdown } from "../../../../services/web/pages/core/open-markdown.ts";
import { type Block, type Inline, parseMarkdown, plainText } from "../../../../services/web/pages/markdown/tree.ts";

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
function shown(blocks: readonly Block[]): string {
  return blocks
    .map((block): string => {
      switch (block.kind) {
        case "heading":
        case "paragraph":
          return words(block.of);
        case "quote":
        case "note":
          return shown(block.of);
        case "list":
          return block.items.map((item) => shown(item.of)).join(" ");
        case "table":
          return [...block.head, ...block.rows.flat()].map(words).join(" ");
        default:
          return "";
      }
    })
    .join(" ");
}

const words = (of: readonly Inline[]): string =>
  plainText(of.map((one) => (one.kind === "code" ? { kind: "text", text: "" } : one)));

const read = (text: string) => shown(parseMarkdown(text).map(({ block }) => block));

test("no frame of a growing answer shows a bare mark", () => {
  for (let end = 1; end <= WHOLE.length; end++) {
    const text = read(closeOpenMarkdown(WHOLE.slice(0, end)));
    expect(text, JSON.stringify(WHOLE.slice(Math.max(0, end - 40), end))).not.toMatch(/```|\*\*|~~|__|\]\(/);
    expect(text, JSON.stringify(WHOLE.slice(Math.max(0, end - 40), end))).not.toMatch(/\|/);
    expect(text).not.toMatch(/(^|\s)[*`#]+(\s|$)/);
  }
});

test("the whole text is shown as it is once its last block is closed", () => {
  const strip = (text: string) => read(text).replace(/\s+/g, " ").trim();
  expect(strip(closeOpenMarkdown(WHOLE))).toBe(strip(WHOLE));
});

test("an open fence holds everything that follows as code, without the half of its end", () => {
  const [code] = parseMarkdown(closeOpenMarkdown("```js\nlet a = 1;\n``"));
  expect(code?.block).toMatchObject({ kind: "code", text: "let a = 1;" });
});

test("any text, cut anywhere, gives text that can be read on", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("*", "`", "_", "~", "|", "\n", " ", "a", "-", "[", "]", "(", ")", "#", "1", "."),
      }),
      (text) => {
        expect(typeof closeOpenMarkdown(text)).toBe("string");
        parseMarkdown(closeOpenMarkdown(text));
      },
    ),
    { numRuns: 500, seed: 1 },
  );
});
