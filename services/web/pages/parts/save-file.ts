// Hands the user a file made in the page.

import { browserClock } from "../browser-time.ts";

/** Offers `content` for download under `name`. */
export function saveFile(name: string, content: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  browserClock.after(10_000, () => URL.revokeObjectURL(url));
}
