// Every parser of what people (or their files, their model) write takes at most twice the steps for a text twice as long,
// whatever the text is made of. (Patterns are held to the same by patterns.test.ts.) A new parser belongs in this list.

import { expect, test } from "vitest";
import { questionWithFiles } from "../../../services/core/attached-files.ts";
import { planBatch } from "../../../services/core/batch-plan.ts";
import { readDelimited } from "../../../services/core/delimited.ts";
import { canonicalJson } from "../../../services/core/journal.ts";
import { dayStyles, paragraphsOf, sharedTexts, sheetLines, sheetNames } from "../../../services/core/office-text.ts";
import { checkPlaybook, fillReferences } from "../../../services/core/playbook.ts";
import { titleOf } from "../../../services/core/title.ts";
import { cleanText, planSegments, subtitles } from "../../../services/core/transcript.ts";
import { slicesOf } from "../../../services/core/whole-characters.ts";
import { readJson, storableJson } from "../../../services/core/wire/json.ts";
import { readPauses } from "../../../services/media/ffmpeg.ts";
import { readIntent } from "../../../services/model/intent.ts";
import { createThinkTags } from "../../../services/model/think-tags.ts";
import { readingStatement } from "../../../services/tools/check-statement.ts";
import { withoutEnd } from "../../../services/tools/run-sql.ts";
import { attachedName, readText } from "../../../services/web/attachment-text.ts";
import { shownName } from "../../../services/web/upload-files.ts";
import { stepsOf } from "../../support/rules/step-count.ts";

const step = (sql: string) => ({ id: "b", tool: "sql", input: { dataSource: "demo", sql } });
const OUTPUTS = new Map([["a", { rows: [{ n: 1 }] }]]);
const BOOK = { texts: ["x"], days: new Set([1]) };

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  "a request's JSON": (text) => readJson(JSON.stringify({ text })),
  "JSON as it comes": (text) => readJson(text),
  "JSON for the database": (text) => storableJson({ [text]: [text] }),
  "an input's fingerprint": (text) => canonicalJson([...text]),
  "a playbook": (text) => checkPlaybook({ name: "p", steps: [step(text)] }),
  "a playbook's references": (text) =>
    fillReferences({ sql: text, more: [`\${steps.a.output.rows[0].n}${text}`] }, OUTPUTS),
  "a question in words": (text) => readIntent(text, ["demo"]),
  "a statement": (text) => readingStatement(`SELECT ${text}`),
  "a statement's end": (text) => withoutEnd(text),
  "a table": (text) => readDelimited("a.csv", text, 5),
  "a document": (text) => paragraphsOf(text),
  "a workbook's texts": (text) => sharedTexts(text),
  "a workbook's styles": (text) => dayStyles(`<cellXfs>${text}`),
  "a workbook's sheets": (text) => sheetNames(text),
  "a sheet": (text) => [...sheetLines(`<row><c r="A1">${text}</c></row>`, BOOK)],
  "a file's name": (text) => [attachedName(text), shownName(text)],
  "a file's text": (text) => readText(Buffer.from(text)),
  "files beside a question": (text) =>
    questionWithFiles(text, [{ name: "a", bytes: 1, characters: text.length, text, isEarlier: false }]),
  "a title": (text) => titleOf(text),
  "a recogniser's text": (text) => cleanText(text),
  subtitles: (text) =>
    subtitles(
      [...text].map((one, n) => ({ n, startMs: n, endMs: n + 1, text: one })),
      "srt",
    ),
  pauses: (text) => planSegments(text.length * 100, readPauses(text, text.length * 100)),
  "a folder's files": (text) =>
    planBatch(
      [...text].map((one, n) => ({ path: `/a/${n}${one}.wav`, bytes: 1, refused: null })),
      { maxBytes: 10 },
      { finished: 0, bytes: 0, workMs: 0, lanes: 1 },
    ),
  "an answer's slices": (text) => [...slicesOf(text, 7)],
  "an answer's thoughts": (text) => {
    const tags = createThinkTags();
    for (const one of text) tags.push(one);
    return tags.end();
  },
};

/** What texts that were meant to hurt are made of. */
const ATOMS = [
  " ",
  "a",
  "녹음 ",
  "${",
  "${steps.a.output.rows[0].n}",
  "`",
  "```",
  "```\n",
  '"',
  '",',
  "'",
  "\\",
  "\n",
  "\r",
  "<",
  "<t>",
  "<c>",
  "</tc>",
  '<x a="',
  "<think>",
  "(",
  "[",
  '{"a":',
  ",",
  ";",
  ".",
  "/",
  "-",
  "=",
  "_",
  "1",
  "pg_x ",
  "repeat(",
  "--",
  "/*",
  "$$",
  "몇 ",
  "행 ",
  "검색",
  "을 구조",
  "count ",
  "silence_start=1 silence_end=2 ",
  "&#x",
  "\ud83d",
  "é",
];

/** Steps for texts of twice as many atoms, by those for the first ones. */
async function growth(parse: (text: string) => unknown, atoms: readonly string[]): Promise<number> {
  const steps = (n: number) =>
    stepsOf("/services/", () => {
      for (const atom of atoms) {
        try {
          parse(atom.repeat(n));
        } catch {
          // Refused: that is an answer too.
        }
      }
    });
  const [once, twice] = [await steps(1_000), await steps(2_000)];
  return twice / once;
}

test.each(Object.entries(PARSERS))(
  "%s: twice as long, at most twice the steps",
  async (_what, parse) => {
    if ((await growth(parse, ATOMS)) <= 2.1) return;
    const costly: string[] = [];
    for (const atom of ATOMS) costly.push(`${JSON.stringify(atom)}: ${(await growth(parse, [atom])).toFixed(1)} times`);
    expect(costly).toEqual([]);
  },
  120_000,
);

test("steps are counted: a loop within a loop is seen, and a search from every place", async () => {
  const square = (text: string) => {
    for (let at = 0; text.indexOf("}", at) === -1 && at < text.length; at++);
  };
  expect(await growth(square, ATOMS)).toBeGreaterThan(3);
});
