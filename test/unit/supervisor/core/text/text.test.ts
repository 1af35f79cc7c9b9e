// Both catalogues of owld say the same things, each in its own language.

import { describe, expect, test } from "vitest";
import { Refusal, wordsOf } from "../../../../../supervisor/core/text/refusal.ts";
import { en, ko, textOf } from "../../../../../supervisor/core/text/text.ts";

type Leaf = string | ((...args: never[]) => unknown);

/** Every leaf by its path. */
function leaves(node: unknown, path: string): [string, Leaf][] {
  if (typeof node === "string" || typeof node === "function") return [[path, node as Leaf]];
  return Object.entries(node as object).flatMap(([key, value]) => leaves(value, path === "" ? key : `${path}.${key}`));
}

/** What the sentences on these need that no figure is. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  list: [["7", "8"]],
  "refused.unknown": ["service", "7"],
  "refused.request.method": ["/7", ["GET", "POST"], "PUT"],
  "refused.release.changed": ["7", "differs"],
  "refused.release.notManifest": ["", undefined],
  "recorded.reloaded": [["7"]],
  "recorded.update.bad": ["7", null],
  "refused.backup.uploadsUnread": [["7"]],
  "notices.failed": [[{ channel: "7", why: "7" }]],
  "why.instance": ["7", "ready", true, "7"],
  "preflight.limits.unfit": [{ code: "7" }],
};

function said(path: string, leaf: Leaf): string {
  if (typeof leaf === "string") return leaf;
  const args = ARGUMENTS[path] ?? [7, 7, 7, 7];
  const words = (leaf as (...args: readonly unknown[]) => unknown)(...args);
  if (typeof words === "string") return words;
  const { sentence, next } = words as { sentence: string; next?: string };
  return next === undefined ? sentence : `${sentence}\n${next}`;
}

const inEnglish = new Map(leaves(en, ""));
const inKorean = new Map(leaves(ko, ""));

test("the same sentences exist in both languages, with a next step in both or in none", () => {
  expect([...inKorean.keys()]).toEqual([...inEnglish.keys()]);
  expect(inEnglish.size).toBeGreaterThan(180);
  for (const [path, leaf] of inEnglish) {
    const lines = said(path, inKorean.get(path) ?? "").split("\n").length;
    expect(lines, path).toBe(said(path, leaf).split("\n").length);
  }
});

test("none of them is empty or undefined in any language", () => {
  for (const [path, leaf] of [...inEnglish, ...inKorean]) {
    const text = said(path, leaf);
    expect(text, path).toMatch(/\S/);
    expect(text, path).not.toMatch(/undefined|\[object/);
  }
});

test("Korean is Korean: no sentence is left in English, and what the English one names is named", () => {
  const plain = [...inKorean].filter(([path, leaf]) => !/[가-힣]/.test(said(path, leaf))).map(([path]) => path);
  // What is the same in every language: a name, a list, a moment, a command.
  expect(plain).toEqual(["language", "preflight.commands.edit", "preflight.clock.found", "list"]);
  for (const [path, leaf] of inKorean) {
    expect(said(path, leaf), path).not.toMatch(/\b(the|is|are|was|not|with|of|to)\b/);
    if (said(path, inEnglish.get(path) ?? "").includes("7")) expect(said(path, leaf), path).toContain("7");
  }
});

describe("a refusal", () => {
  const refusal = new Refusal("rollout.busy", ({ refused }) => refused.busy("r-7"), { data: { rollout: "r-7" } });

  test("is an English error for the log, and says itself in any language", () => {
    expect(refusal).toMatchObject({
      code: "rollout.busy",
      message: "Rollout r-7 is running.",
      data: { rollout: "r-7" },
    });
    expect(wordsOf(refusal, en)).toEqual({ sentence: refusal.message, next: refusal.next });
    expect(wordsOf(refusal, ko)).toEqual({
      sentence: "롤아웃 r-7이(가) 진행 중입니다.",
      next: "지켜보기: owlctl rollout watch r-7",
    });
  });

  test("what knows one language only stays as it is", () => {
    expect(wordsOf(new Error("disk gone"), ko)).toEqual({ sentence: "disk gone" });
  });
});

test("a language has its own catalogue", () => {
  expect([textOf("ko").language, textOf("en").language]).toEqual(["ko", "en"]);
});
