// Circles of imports, types counted too: files none of which can be read without all the others.

import { posix } from "node:path";
import { importsOf } from "./import-rule.ts";
import type { Source } from "./sources.ts";

/** Each circle once, its files in alphabetical order (Tarjan's strongly connected parts of more than one file). */
export function circlesOf(all: readonly Source[]): readonly (readonly string[])[] {
  const paths = new Set(all.map(({ path }) => path));
  const graph = new Map(
    all.map(({ path, text }) => [
      path,
      importsOf(text)
        .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
        .filter((to) => paths.has(to)),
    ]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  function visit(path: string): void {
    order.set(path, order.size);
    lowest.set(path, order.get(path) ?? 0);
    open.push(path);
    for (const to of graph.get(path) ?? []) {
      if (!order.has(to)) visit(to);
      if (open.includes(to)) lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(to) ?? 0));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1) circles.push(circle.sort());
  }
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return circles;
}
