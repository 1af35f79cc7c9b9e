// Lengths of time, sizes and estimates as people read them. Pure: language and numbers in, words out.

import type { Language } from "../../../../config/language.ts";

const UNITS: Readonly<Record<Language, Readonly<Record<"d" | "h" | "m" | "s" | "ms", string>>>> = {
  ko: { d: "일", h: "시간", m: "분", s: "초", ms: "ms" },
  en: { d: " d", h: " h", m: " min", s: " s", ms: " ms" },
};

/** `84_000` is "1 min 24 s"; below ten seconds with one decimal, below a tenth in ms. */
export function durationText(ms: number, language: Language): string {
  const unit = UNITS[language];
  const safe = Number.isFinite(ms) ? Math.max(0, ms) : 0;
  if (safe < 100) return `${Math.round(safe)}${unit.ms}`;
  if (safe < 10_000) return `${(Math.floor(safe / 100) / 10).toFixed(1)}${unit.s}`;
  const total = Math.round(safe / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(total / 86_400), unit.d],
    [Math.floor(total / 3_600) % 24, unit.h],
    [Math.floor(total / 60) % 60, unit.m],
    [total % 60, unit.s],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return `0${unit.s}`;
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count}${name}`)
    .join(" ");
}

/** A running time in whole seconds: `7 s`, `1 min 24 s`. */
export function elapsedText(ms: number, language: Language): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 10 ? `${seconds}${UNITS[language].s}` : durationText(seconds * 1000, language);
}

/** A range of lengths: `40 s – 1 min 10 s`; one length where both read the same. */
export function rangeText(fromMs: number, toMs: number, language: Language): string {
  const [from, to] = [elapsedText(fromMs, language), elapsedText(toMs, language)];
  return from === to ? to : `${from} – ${to}`;
}

/** A position in a recording: `3:07`, `1:02:07`. */
export function clockText(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** Bytes with a binary unit: `1.4 MiB`. */
export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

interface EtaFacts {
  readonly state: string;
  readonly finished: number;
  readonly progress: number;
  /** As the server computed it from active time; null: not known. */
  readonly etaSeconds: number | null;
}

/**
 * The rest of a batch as a range in ms, or null while nothing sensible can be said: not running, or before three
 * finished items and 5 % of the work. The range is wide early and narrows as the work goes on.
 */
export function etaRange(facts: EtaFacts): { readonly fromMs: number; readonly toMs: number } | null {
  if (facts.state !== "running" || facts.etaSeconds === null || !Number.isFinite(facts.etaSeconds)) return null;
  if (facts.finished < 3 && facts.progress < 0.05) return null;
  const eta = Math.max(0, facts.etaSeconds) * 1000;
  const spread = 0.1 + 0.3 * (1 - Math.min(1, Math.max(0, facts.progress)));
  return { fromMs: Math.round(eta * (1 - spread)), toMs: Math.round(eta * (1 + spread)) };
}
