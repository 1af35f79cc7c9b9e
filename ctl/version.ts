// The version of the code owlctl belongs to: package.json of its checkout or release.

import { readFileSync } from "node:fs";

/** `0.1.0`. */
export function codeVersion(): string {
  const url = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { version: string }).version;
}
