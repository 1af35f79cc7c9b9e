// Colours for code: loaded with the first block of a language it knows. Its tree becomes our own elements.

import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { type ComponentChild, h } from "preact";

const known = createLowlight({
  bash,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  json,
  python,
  r,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
known.registerAlias({
  typescript: ["js", "javascript", "jsx", "tsx", "mjs"],
  cpp: ["c"],
  sql: ["postgresql", "pgsql"],
});

/** The code in coloured pieces; null for a language it does not know. */
export function coloured(code: string, language: string): readonly ComponentChild[] | null {
  if (!known.registered(language)) return null;
  return known.highlight(language, code).children.map(piece);
}

type Piece = ReturnType<typeof known.highlight>["children"][number];

function piece(one: Piece): ComponentChild {
  if (one.type === "text") return one.value;
  if (one.type !== "element") return null;
  const names = one.properties.className;
  return h("span", { class: Array.isArray(names) ? names.join(" ") : "" }, one.children.map(piece));
}
