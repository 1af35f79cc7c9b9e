// Both catalogues are complete, and each says something of its own.

import { expect, test } from "vitest";
import { textOf } from "../../../ctl/text/text.ts";

const en = textOf("en");
const ko = textOf("ko");

type Leaf = string | ((...args: never[]) => unknown);

/** Every leaf by its path; lists count as their elements. */
function leaves(node: unknown, path: string): [string, Leaf][] {
  if (typeof node === "string" || typeof node === "function") return [[path, node as Leaf]];
  return Object.entries(node as object).flatMap(([key, value]) => leaves(value, path === "" ? key : `${path}.${key}`));
}

/** Serves as a text, a number, and as any object of figures. */
const figures = new Proxy({}, { get: (_, key) => (key === Symbol.toPrimitive ? () => "7" : 7) });

function said(path: string, leaf: Leaf): string {
  if (typeof leaf === "string") return leaf;
  const first = path === "examples" ? ["x"] : path.endsWith("Figures") ? figures : "7";
  return String((leaf as (...args: unknown[]) => unknown)(first, "7", "7", "7"));
}

const inEnglish = new Map(leaves({ ...en, byCode: {} }, ""));
const inKorean = new Map(leaves({ ...ko, byCode: {} }, ""));

test("the same sentences exist in both languages", () => {
  expect([...inKorean.keys()]).toEqual([...inEnglish.keys()]);
  expect(inEnglish.size).toBeGreaterThan(150);
});

test("none of them is empty or undefined in any language", () => {
  for (const [path, leaf] of [...inEnglish, ...inKorean]) {
    const text = said(path, leaf);
    expect(text, path).not.toBe("");
    expect(text, path).not.toMatch(/undefined|\[object/);
  }
});

test("help and sentences are really in Korean", () => {
  const untranslated = [...inKorean].filter(
    ([path, leaf]) => !/[가-힣]/.test(said(path, leaf)) && said(path, leaf) === said(path, inEnglish.get(path) ?? ""),
  );
  // What stays: numbers, names of states that are no words, column titles such as PID and P95.
  expect(
    untranslated
      .map(([path]) => path)
      .filter((path) => !/columns|stepColumns|status\.pid|pairs|preflight\.sum|rollout\.action/.test(path)),
  ).toEqual([]);
});

test("codes worded in English are worded in Korean too", () => {
  expect(Object.keys(ko.byCode)).toEqual(expect.arrayContaining(Object.keys(en.byCode)));
});
