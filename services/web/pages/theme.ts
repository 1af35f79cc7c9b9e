// Light or dark: the system's choice until the user makes one of their own.

import { keep, readKept } from "./kept.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function themeNow(): Theme {
  return THEMES.find((name) => name === readKept<string>("theme", "system")) ?? "system";
}

export function chooseTheme(theme: Theme): void {
  keep("theme", theme === "system" ? null : theme);
  applyTheme();
}

/** Sets the document's theme by what is kept. */
export function applyTheme(): void {
  const theme = themeNow();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
