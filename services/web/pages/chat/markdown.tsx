// Safe Markdown: the parser's tree becomes our own elements. Invariants: no innerHTML anywhere, raw HTML is shown as
// text, links lead to http(s) or mailto only, pictures come from us alone; a settled block is not drawn again.

import { Component, type ComponentChildren, type VNode } from "preact";
import type { Language } from "../../../../config/language.ts";
import { safeImage, safeLink } from "../core/links.ts";
import { type Growth, growMarkdown, type ParsedMarkdown } from "../markdown/growing.ts";
import { type Block, type Inline, type ListItem, plainText, type TopBlock } from "../markdown/tree.ts";
import { CodeBlock } from "./code-block.tsx";
import { DataTable } from "./data-table.tsx";
import { FormulaView } from "./formula-view.tsx";
import { NoteMark, noteId } from "./note-mark.tsx";

interface MarkdownProps {
  readonly text: string;
  readonly growth?: Growth;
  /** Unique on the page: what the ids of its notes begin with. */
  readonly name: string;
  /** In which labels are written; another one draws all of it again. */
  readonly language?: Language;
}

/** What every block needs to know of the whole. */
interface Whole {
  readonly name: string;
  readonly notes: ReadonlySet<string>;
  readonly isGrowing: boolean;
  readonly language: Language | null;
}

export class Markdown extends Component<MarkdownProps> {
  private parsed: ParsedMarkdown | null = null;
  private whole: Whole | null = null;

  override render(): VNode {
    const { text, growth = "whole", name, language = null } = this.props;
    this.parsed = growMarkdown(this.parsed, text, growth);
    const { blocks } = this.parsed;
    const notes = blocks.flatMap(({ block }) => (block.kind === "note" ? [block.label] : []));
    const isGrowing = growth === "growing";
    const before = this.whole;
    const isSame = before?.name === name && before.isGrowing === isGrowing && before.language === language;
    const whole =
      isSame && before.notes.size === notes.length ? before : { name, notes: new Set(notes), isGrowing, language };
    this.whole = whole;
    return (
      <div class="markdown">
        {blocks.map((top, index) => (
          // A block's place is its identity: text only ever grows at the end.
          <TopBlockView key={index} top={top} whole={whole} isOpen={isGrowing && index === blocks.length - 1} />
        ))}
      </div>
    );
  }
}

interface TopBlockProps {
  readonly top: TopBlock;
  readonly whole: Whole;
  /** Text may still be added to it. */
  readonly isOpen: boolean;
}

class TopBlockView extends Component<TopBlockProps> {
  override shouldComponentUpdate(next: TopBlockProps): boolean {
    return next.top !== this.props.top || next.whole !== this.props.whole || next.isOpen !== this.props.isOpen;
  }
  override render(): ComponentChildren {
    const { top, whole, isOpen } = this.props;
    return drawBlock(top.block, 0, whole, isOpen);
  }
}

const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

function drawBlocks(blocks: readonly Block[], whole: Whole, isOpen: boolean): ComponentChildren {
  return blocks.map((block, index) => drawBlock(block, index, whole, isOpen && index === blocks.length - 1));
}

function drawBlock(block: Block, key: number, whole: Whole, isOpen: boolean): ComponentChildren {
  switch (block.kind) {
    case "heading": {
      const Heading = HEADINGS[block.level - 1] ?? "h6";
      return <Heading key={key}>{inline(block.of, whole)}</Heading>;
    }
    case "paragraph":
      return block.isTight ? inline(block.of, whole) : <p key={key}>{inline(block.of, whole)}</p>;
    case "code":
      return <CodeBlock key={key} code={block.text} language={block.language} isOpen={isOpen} />;
    case "quote":
      return <blockquote key={key}>{drawBlocks(block.of, whole, isOpen)}</blockquote>;
    case "rule":
      return <hr key={key} />;
    case "list": {
      const items = block.items.map((item, index) => (
        <ItemView key={index} item={item} whole={whole} isOpen={isOpen && index === block.items.length - 1} />
      ));
      return block.start === null ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
    case "table":
      return (
        <DataTable
          key={key}
          head={block.head.map(plainText)}
          rows={block.rows.map((row) => row.map(plainText))}
          cells={(row, column) => inline(block.rows[row]?.[column] ?? [], whole)}
          align={block.align}
        />
      );
    case "formula":
      return <FormulaView key={key} source={block.source} isDisplay />;
    case "note":
      return (
        <div key={key} class="note" id={noteId(whole.name, block.label)} tabIndex={-1}>
          <sup>{block.label}</sup>
          <div>{drawBlocks(block.of, whole, isOpen)}</div>
        </div>
      );
  }
}

interface ItemProps {
  readonly item: ListItem;
  readonly whole: Whole;
  readonly isOpen: boolean;
}

class ItemView extends Component<ItemProps> {
  override shouldComponentUpdate(next: ItemProps): boolean {
    return next.item !== this.props.item || next.whole !== this.props.whole || next.isOpen !== this.props.isOpen;
  }
  override render(): VNode {
    const { item, whole, isOpen } = this.props;
    const [first] = item.of;
    const label = first?.kind === "paragraph" ? plainText(first.of) : "";
    return (
      <li class={item.done === null ? undefined : "task"}>
        {item.done !== null && <input type="checkbox" checked={item.done} disabled aria-label={label} />}
        {drawBlocks(item.of, whole, isOpen)}
      </li>
    );
  }
}

const inline = (of: readonly Inline[], whole: Whole): ComponentChildren =>
  of.map((one, index) => drawInline(one, index, whole));

function drawInline(one: Inline, key: number, whole: Whole): ComponentChildren {
  switch (one.kind) {
    case "text":
      return one.text;
    case "code":
      return <code key={key}>{one.text}</code>;
    case "break":
      return <br key={key} />;
    case "formula":
      return <FormulaView key={key} source={one.source} isDisplay={one.isDisplay} />;
    case "strong":
      return <strong key={key}>{inline(one.of, whole)}</strong>;
    case "em":
      return <em key={key}>{inline(one.of, whole)}</em>;
    case "del":
      return <del key={key}>{inline(one.of, whole)}</del>;
    case "link":
      return link(safeLink(one.href), inline(one.of, whole), key);
    case "image": {
      const src = safeImage(one.src);
      if (src !== null) return <img key={key} src={src} alt={one.text} loading="lazy" />;
      return link(safeLink(one.src), one.text || one.src, key);
    }
    case "noteMark":
      if (!whole.isGrowing && !whole.notes.has(one.label)) return `[^${one.label}]`;
      return <NoteMark key={key} name={whole.name} label={one.label} />;
  }
}

function link(href: string | null, of: ComponentChildren, key: number): VNode {
  if (href === null) return <span key={key}>{of}</span>;
  return (
    <a key={key} href={href} target="_blank" rel="noopener noreferrer nofollow">
      {of}
    </a>
  );
}
