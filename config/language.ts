// The one rule of languages: of what somebody asks for, in order of preference, the first of ours counts; who asks for
// none of them gets the installation's. Pure.

export const LANGUAGES = ["en", "ko"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The first of ours among language tags or locales (`ko-KR`, `ko_KR.UTF-8`), or null. */
export function firstLanguage(wanted: readonly string[]): Language | null {
  for (const tag of wanted) {
    const name = /^\s*([a-z]+)(?![a-z])/i.exec(tag)?.[1]?.toLowerCase();
    const ours = LANGUAGES.find((language) => language === name);
    if (ours !== undefined) return ours;
  }
  return null;
}

/** Of an Accept-Language header; whatever its `q`: owlctl sends one, and browsers list in the order of preference. */
export const acceptedLanguage = (header: string | undefined): Language | null =>
  firstLanguage((header ?? "").split(","));

/** Of a process's environment: OWL_LANG, else the locale. */
export function environmentLanguage(env: Readonly<Record<string, string | undefined>>): Language {
  return firstLanguage([env.OWL_LANG || env.LC_ALL || env.LC_MESSAGES || env.LANG || ""]) ?? "en";
}
