// What a user reads, in the language chosen here, else the browser's, else the installation's.

import { firstLanguage, type Language } from "../../../../config/language.ts";
import { sayOf } from "../../../../config/text.ts";
import { keep, readKept } from "../kept.ts";
import { createStore, type Store, useStore } from "../store.ts";
import { words } from "./words.ts";

export { numberText } from "../../../../config/text.ts";

export type TextKey = keyof typeof words & string;

function firstChoice(): Language {
  const kept = readKept<string | null>("language", null);
  const installed = globalThis.document?.documentElement.lang;
  return firstLanguage([kept ?? "", ...(globalThis.navigator?.languages ?? []), installed ?? ""]) ?? "en";
}

const language: Store<Language> = createStore<Language>(firstChoice());

export const languageNow = (): Language => language.get();
export const useLanguage = (): Language => useStore(language);

export function chooseLanguage(next: Language): void {
  keep("language", next);
  language.set(next);
  document.documentElement.lang = next;
}

/** The sentence of a key. */
export const t = sayOf(words, languageNow);

/** A moment: today's as a time, others as a date with the time. */
export function momentText(iso: string, nowMs: number): string {
  const at = new Date(iso);
  const sameDay = at.toDateString() === new Date(nowMs).toDateString();
  return new Intl.DateTimeFormat(
    language.get(),
    sameDay ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  ).format(at);
}

/** A month, of `2026-08`. */
export function monthText(month: string): string {
  const [year = 0, n = 1] = month.split("-").map(Number);
  return new Intl.DateTimeFormat(language.get(), { year: "numeric", month: "long" }).format(new Date(year, n - 1));
}
