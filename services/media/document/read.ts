// Reads a document: its text, as far as it may go. Runs in a child process of its own (main.ts), since what it reads comes
// from anybody. Invariant: what is unpacked is bounded before it is unpacked.

import { unzipSync } from "fflate";
import { dayStyles, paragraphsOf, sharedTexts, sheetLines, sheetNames } from "../../core/office-text.ts";

const MOST_CHARACTERS = 1_000_000;
const MOST_PAGES = 500;
const UNPACKED_BYTES = 64 * 2 ** 20;
const MOST_PARTS = 2_000;

/** What of an archive is looked at. */
const PARTS =
  /^(?:word\/(?:document|footnotes|endnotes)\.xml|ppt\/(?:slides|notesSlides)\/[A-Za-z]+\d{1,4}\.xml|xl\/(?:workbook|sharedStrings|styles)\.xml|xl\/worksheets\/sheet\d{1,4}\.xml)$/;

/** What goes on until there is enough; `isCut`: there was more. */
interface Taken {
  text: string;
  isCut: boolean;
}

/** Adds to what was taken; false: there is enough. */
function take(taken: Taken, text: string): boolean {
  const room = MOST_CHARACTERS - taken.text.length;
  taken.text += text.slice(0, Math.max(0, room));
  taken.isCut ||= text.length > room;
  return !taken.isCut;
}

/** null: it is no document that we know. Throws what is wrong with it. */
export async function readDocument(bytes: Uint8Array): Promise<Taken | null> {
  if (bytes[0] === 0x25) return readPdf(bytes);
  const parts = unpack(bytes);
  if (parts.has("word/document.xml")) return readWord(parts);
  if (parts.has("xl/workbook.xml")) return readWorkbook(parts);
  return [...parts.keys()].some((name) => name.startsWith("ppt/slides/")) ? readSlides(parts) : null;
}

async function readPdf(bytes: Uint8Array): Promise<Taken> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(bytes);
  const taken: Taken = { text: "", isCut: pdf.numPages > MOST_PAGES };
  for (let n = 1; n <= Math.min(pdf.numPages, MOST_PAGES); n++) {
    const page = await pdf.getPage(n);
    const { items } = await page.getTextContent();
    const said = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    if (said.trim() !== "" && !take(taken, `[page ${n}]\n${said.trim()}\n\n`)) break;
  }
  return taken;
}

function unpack(bytes: Uint8Array): ReadonlyMap<string, string> {
  let [left, count] = [UNPACKED_BYTES, 0];
  const files = unzipSync(bytes, {
    filter({ name, originalSize }) {
      if (!PARTS.test(name)) return false;
      left -= originalSize;
      count += 1;
      if (left < 0 || count > MOST_PARTS) throw new Error("It is too large unpacked.");
      return true;
    },
  });
  const decoder = new TextDecoder();
  return new Map(Object.entries(files).map(([name, content]) => [name, decoder.decode(content)]));
}

type Parts = ReadonlyMap<string, string>;

function readWord(parts: Parts): Taken {
  const taken: Taken = { text: "", isCut: false };
  for (const name of ["document", "footnotes", "endnotes"]) {
    const text = paragraphsOf(parts.get(`word/${name}.xml`) ?? "");
    if (text !== "") take(taken, `${text}\n\n`);
  }
  return taken;
}

const numberOf = (name: string): number => Number(/\d{1,4}(?=\.xml$)/.exec(name)?.[0] ?? 0);

const numbered = (parts: Parts, folder: string): readonly string[] =>
  [...parts.keys()].filter((name) => name.startsWith(folder)).sort((one, other) => numberOf(one) - numberOf(other));

function readSlides(parts: Parts): Taken {
  const taken: Taken = { text: "", isCut: false };
  for (const name of numbered(parts, "ppt/slides/")) {
    const text = paragraphsOf(parts.get(name) ?? "");
    const notes = paragraphsOf(parts.get(`ppt/notesSlides/notesSlide${numberOf(name)}.xml`) ?? "");
    if (!take(taken, `[slide ${numberOf(name)}]\n${[text, notes].filter(Boolean).join("\n\n")}\n\n`)) break;
  }
  return taken;
}

function readWorkbook(parts: Parts): Taken {
  const taken: Taken = { text: "", isCut: false };
  const names = sheetNames(parts.get("xl/workbook.xml") ?? "");
  const book = {
    texts: sharedTexts(parts.get("xl/sharedStrings.xml") ?? ""),
    days: dayStyles(parts.get("xl/styles.xml") ?? ""),
  };
  for (const [index, name] of numbered(parts, "xl/worksheets/").entries()) {
    if (!take(taken, `[sheet ${names[index] ?? index + 1}]\n`)) return taken;
    for (const line of sheetLines(parts.get(name) ?? "", book)) if (!take(taken, `${line}\n`)) return taken;
    take(taken, "\n");
  }
  return taken;
}
