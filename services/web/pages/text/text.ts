// What a user reads, by language. Invariant: both catalogues have the same keys and marks (compiler and test).
// Choice: what the user chose here, else the browser's language, else the installation's.

import type { Language } from "../core/duration.ts";
import { keep, readKept } from "../kept.ts";
import { createStore, type Store, useStore } from "../store.ts";
import { en } from "./en.ts";
import { ko } from "./ko.ts";

export type TextKey = keyof typeof en;
export type Catalogue = Readonly<Record<TextKey, string>>;
export type Values = Readonly<Record<string, string | number>>;

export const catalogues: Readonly<Record<Language, Catalogue>> = { ko, en };

function firstChoice(): Language {
  const kept = readKept<string | null>("language", null);
  if (kept === "ko" || kept === "en") return kept;
  const wanted = globalThis.navigator?.languages ?? [];
  for (const tag of wanted) {
    if (tag.startsWith("ko")) return "ko";
    if (tag.startsWith("en")) return "en";
  }
  return globalThis.document?.documentElement.lang === "ko" ? "ko" : "en";
}

const language: Store<Language> = createStore<Language>(firstChoice());

export const languageNow = (): Language => language.get();
export const useLanguage = (): Language => useStore(language);

export function chooseLanguage(next: Language): void {
  keep("language", next);
  language.set(next);
  document.documentElement.lang = next;
}

/** The sentence `key` with its `{name}` marks filled. */
export function t(key: TextKey, values: Values = {}): string {
  return fill(catalogues[language.get()][key], values);
}

/** `key.one` or `key.other` by the number `values.count`. */
export function tCount(key: string, count: number, values: Values = {}): string {
  const rule = new Intl.PluralRules(language.get()).select(count) === "one" ? "one" : "other";
  const catalogue = catalogues[language.get()] as Readonly<Record<string, string>>;
  return fill(catalogue[`${key}.${rule}`] ?? key, { count: numberText(count), ...values });
}

function fill(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (mark, name) => (values[name] === undefined ? mark : String(values[name])));
}

/** A number as that language groups it. */
export function numberText(value: number): string {
  return new Intl.NumberFormat(language.get(), { maximumFractionDigits: 1 }).format(value);
}

/** A moment: today's as a time, others as a date with the time. */
export function momentText(iso: string, nowMs: number): string {
  const at = new Date(iso);
  const sameDay = at.toDateString() === new Date(nowMs).toDateString();
  return new Intl.DateTimeFormat(
    language.get(),
    sameDay ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  ).format(at);
}
