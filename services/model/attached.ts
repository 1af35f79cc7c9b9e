// What the built-in responder says of attached files: name and size; of a table its columns and first rows, of another
// text its first lines. It reads, it does not understand: it says no more than that.

import { type AttachedFile, isCut } from "../core/attached-files.ts";
import { readDelimited } from "../core/delimited.ts";
import type { Text } from "../text/text.ts";
import { markdownTable } from "./markdown-table.ts";

const SHOWN_ROWS = 10;
const SHOWN_COLUMNS = 12;
const SHOWN_LINES = 12;
const LINE_CHARACTERS = 200;

/** Markdown about one file. */
export function describeFile(file: AttachedFile, words: Text): string {
  if (file.isImage) {
    const size = words("builtIn.fileBytes", { bytes: file.bytes });
    return `**${inline(file.name)}** · ${size} · ${words("builtIn.fileImage")}\n\n`;
  }
  const table = readDelimited(file.name, file.text, SHOWN_ROWS);
  const lines = file.text.split(/\r\n|[\n\r]/);
  if (lines.at(-1) === "") lines.pop();
  const figures =
    table === null
      ? words("builtIn.fileLines", { lines: lines.length })
      : words("builtIn.fileTable", { rows: table.count, columns: table.columns.length });
  const head = `**${inline(file.name)}** · ${words("builtIn.fileBytes", { bytes: file.bytes })} · ${figures}\n\n`;
  const shown =
    table === null
      ? firstLines(lines)
      : markdownTable(
          table.columns.slice(0, SHOWN_COLUMNS),
          table.rows.map((row) => row.slice(0, SHOWN_COLUMNS)),
        );
  const notes = [
    table !== null && table.count > SHOWN_ROWS ? words("builtIn.fileFirstRows", { rows: SHOWN_ROWS }) : "",
    table !== null && table.columns.length > SHOWN_COLUMNS
      ? words("builtIn.fileFirstColumns", { columns: SHOWN_COLUMNS })
      : "",
    table === null && lines.length > SHOWN_LINES ? words("builtIn.fileFirstLines", { lines: SHOWN_LINES }) : "",
    isCut(file) ? words("builtIn.fileCut", { characters: [...file.text].length, all: file.characters }) : "",
  ].filter((note) => note !== "");
  return `${head}${shown}\n${notes.length > 0 ? `${notes.join(" ")}\n\n` : ""}`;
}

function firstLines(lines: readonly string[]): string {
  const shown = lines.slice(0, SHOWN_LINES).map((line) => line.slice(0, LINE_CHARACTERS));
  const longest = (shown.join("\n").match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown.join("\n")}\n${fence}\n`;
}

/** A name among words, whatever Markdown it looks like. */
function inline(name: string): string {
  return name.replace(/[\\`*_[\]<>|~&]/g, (mark) => `\\${mark}`);
}
