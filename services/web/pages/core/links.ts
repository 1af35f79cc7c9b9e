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
