// Safe Markdown: marked's tokens become our own elements, by allow-list. Invariants: no innerHTML anywhere, raw HTML is
// shown as text, links lead to http(s) or mailto only, pictures come from us alone; a finished block is not drawn again.

import { lexer, type Token, type Tokens } from "marked";
import { Component, type ComponentChildren, type VNode } from "preact";
import { readEntities, safeImage, safeLink } from "../core/links.ts";
import { closeOpenMarkdown } from "../core/open-markdown.ts";
import { CodeBlock } from "./code-block.tsx";
import { DataTable } from "./data-table.tsx";

interface MarkdownProps {
  readonly text: string;
  /** More is coming: what is open is closed for the moment. */
  readonly growing?: boolean;
}

export function Markdown({ text, growing = false }: MarkdownProps): VNode {
  const blocks = lexer(growing ? closeOpenMarkdown(text) : text, { gfm: true });
  return (
    <div class="markdown">
      {blocks.map((token, index) => (
        // A block's place is its identity: text only ever grows at the end.
        <Block key={index} token={token} />
      ))}
    </div>
  );
}

/** Draws again only when its source changed. */
class Block extends Component<{ readonly token: Token }> {
  override shouldComponentUpdate(next: { readonly token: Token }): boolean {
    return next.token.raw !== this.props.token.raw || next.token.type !== this.props.token.type;
  }
  override render(): ComponentChildren {
    return block(this.props.token, 0);
  }
}

function blocks(tokens: readonly Token[] | undefined, key = 0): ComponentChildren {
  return (tokens ?? []).map((token, index) => block(token, key + index));
}

const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;

function block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // The page has its own first levels: an answer's headings begin below them.
      const Heading = HEADINGS[(token as Tokens.Heading).depth - 1] ?? "h6";
      return <Heading key={key}>{inline(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p key={key}>{inline(token.tokens)}</p>;
    case "code": {
      const code = token as Tokens.Code;
      return <CodeBlock key={key} code={code.text} language={(code.lang ?? "").split(/\s/)[0] ?? ""} />;
    }
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens)}</blockquote>;
    case "hr":
      return <hr key={key} />;
    case "list":
      return list(token as Tokens.List, key);
    case "table": {
      const table = token as Tokens.Table;
      return (
        <DataTable
          key={key}
          head={table.header.map((cell) => plainText(cell.tokens))}
          rows={table.rows.map((row) => row.map((cell) => plainText(cell.tokens)))}
          cells={(row, column) => inline(table.rows[row]?.[column]?.tokens)}
          align={table.align}
        />
      );
    }
    case "text":
      return token.tokens ? (
        <span key={key}>{inline(token.tokens)}</span>
      ) : (
        <span key={key}>{readEntities(token.text)}</span>
      );
    default:
      // Raw HTML and whatever a later parser may add: shown, never run.
      return (
        <p key={key} class="raw">
          {token.raw.trim()}
        </p>
      );
  }
}

function list(token: Tokens.List, key: number): VNode {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={plainText(item.tokens)} />
      )}
      {item.loose ? blocks(item.tokens) : tight(item.tokens)}
    </li>
  ));
  if (!token.ordered) return <ul key={key}>{items}</ul>;
  return (
    <ol key={key} start={typeof token.start === "number" ? token.start : 1}>
      {items}
    </ol>
  );
}

/** A tight list's items hold their text without paragraphs. */
function tight(tokens: readonly Token[]): ComponentChildren {
  return tokens
    .filter((token) => token.type !== "checkbox")
    .map((token, index) => (token.type === "text" && token.tokens ? inline(token.tokens) : block(token, index)));
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token, index) => span(token, index));
}

function span(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "text":
    case "escape":
      return "tokens" in token && token.tokens ? inline(token.tokens) : readEntities(token.text);
    case "strong":
      return <strong key={key}>{inline(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inline(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inline(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{token.text}</code>;
    case "br":
      return <br key={key} />;
    case "link": {
      const href = safeLink(token.href);
      if (href === null) return <span key={key}>{inline(token.tokens)}</span>;
      return (
        <a key={key} href={href} target="_blank" rel="noopener noreferrer nofollow">
          {inline(token.tokens)}
        </a>
      );
    }
    case "image": {
      const src = safeImage(token.href);
      if (src !== null) return <img key={key} src={src} alt={token.text} loading="lazy" />;
      const href = safeLink(token.href);
      const name = token.text || token.href;
      return href === null ? (
        <span key={key}>{name}</span>
      ) : (
        <a key={key} href={href} target="_blank" rel="noopener noreferrer nofollow">
          {name}
        </a>
      );
    }
    case "checkbox":
      return null;
    default:
      return token.raw;
  }
}

/** The text of tokens without their marks: for CSV, sorting and labels. */
function plainText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if (token.type === "br") return "\n";
      if (token.type === "codespan") return token.text as string;
      if ("tokens" in token && token.tokens) return plainText(token.tokens);
      return readEntities("text" in token && typeof token.text === "string" ? token.text : token.raw);
    })
    .join("");
}
