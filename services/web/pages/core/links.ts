// Which addresses of an answer may be followed or loaded. Invariant: an answer can neither run script nor tell another
// host anything by loading a picture from it.

/** The address when a link may lead there (http, https, mailto), else null. */
export function safeLink(href: string): string | null {
  const trimmed = href.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(trimmed)) return null;
  const url = URL.parse(trimmed);
  if (url === null) return null;
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}

/** The address when a picture may be loaded from there: our own paths alone, else null. */
export function safeImage(src: string): string | null {
  if (!src.startsWith("/")) return null;
  const url = URL.parse(src, "http://owl.invalid");
  return url?.host === "owl.invalid" && url.protocol === "http:" ? url.pathname + url.search : null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
};

/** Text with its character references read; what is not one of the known stays as it is. */
export function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}
