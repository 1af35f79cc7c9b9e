// Where a path of owl.yaml (`["services", "web", "replicas"]`) stands in the file: line and column, both from 1.

import { type Document, isMap, isPair, isScalar, isSeq, type LineCounter, type Node } from "yaml";

export type ConfigPath = readonly (string | number)[];

export interface Positions {
  /** `owl.yaml:14:3` of the value at `path`, or of its nearest ancestor that is written in the file. */
  readonly of: (path: ConfigPath) => string;
  /** The same for the key itself (unknown and duplicate keys). */
  readonly ofKey: (path: ConfigPath) => string;
  /** Whether that path is written in the file. */
  readonly has: (path: ConfigPath) => boolean;
}

/** Reads positions off a parsed document. `name` is how the file is called in messages. */
export function positionsOf(document: Document, lines: LineCounter, name: string): Positions {
  const at = (offset: number | null) => {
    const { line, col } = offset === null ? { line: 1, col: 1 } : lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  return {
    of: (path) => at(findOffset(document.contents as Node | null, path, "value")),
    ofKey: (path) => at(findOffset(document.contents as Node | null, path, "key")),
    has: (path) => document.hasIn(path),
  };
}

/** Positions when there is no file: everything is `name`. */
export function noPositions(name: string): Positions {
  return { of: () => name, ofKey: () => name, has: () => false };
}

function findOffset(root: Node | null, path: ConfigPath, what: "key" | "value"): number | null {
  let node: unknown = root;
  let offset: number | null = root?.range?.[0] ?? null;
  for (const [depth, step] of path.entries()) {
    const last = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && keyText(item.key) === String(step));
      if (pair === undefined) return offset;
      const keyOffset = (pair.key as Node | null)?.range?.[0] ?? offset;
      const valueOffset = (pair.value as Node | null)?.range?.[0] ?? keyOffset;
      offset = last && what === "value" ? valueOffset : keyOffset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function keyText(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}
