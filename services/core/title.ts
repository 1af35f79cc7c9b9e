// What a model says when it is asked for a name, as a title. Pure.

import { slicesOf } from "./whole-characters.ts";

const LONGEST = 80;
/** What quotes and Markdown put around a name. */
const AROUND = new Set("\"'“”‘’「」『』《》*_#`.。 ");

/** The first line with words, without what stands around them; null where there is none. */
export function titleOf(said: string): string | null {
  const thoughtEnd = said.trimStart().startsWith("<think>") ? said.indexOf("</think>") : -1;
  if (thoughtEnd < 0 && said.trimStart().startsWith("<think>")) return null;
  const lines = said.slice(thoughtEnd < 0 ? 0 : thoughtEnd + "</think>".length).split("\n");
  const line = lines.find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  const title = bare(line.replaceAll("\u0000", "").toWellFormed().replace(/\s+/g, " "));
  const [first = ""] = slicesOf(title, LONGEST);
  return first === "" ? null : first;
}

function bare(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && AROUND.has(text[from] ?? "")) from += 1;
  while (to > from && AROUND.has(text[to - 1] ?? "")) to -= 1;
  return text.slice(from, to);
}
