// Text out of the XML of office documents.

import { expect, test } from "vitest";
import { dayStyles, paragraphsOf, sharedTexts, sheetLines, sheetNames } from "../../../../services/core/office-text.ts";

test("a document's paragraphs are lines, tables have rows, deleted words and marks are not said", () => {
  const xml = `<?xml version="1.0"?><w:document><w:body>
    <w:p w:rsidR="1"><w:r><w:t xml:space="preserve">매출 </w:t></w:r><w:r><w:t>A &amp; B &lt;1&gt; &#x1F989;</w:t></w:r></w:p>
    <w:p><w:del><w:delText>never</w:delText></w:del><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>
    <w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t></w:p><w:p><w:t>c</w:t></w:p></w:tc></w:tr></w:tbl>
  </w:body></w:document>`;
  expect(paragraphsOf(xml)).toBe("매출 A & B <1> 🦉\none\ttwo\nthree\na\tb c");
});

test("a sheet's rows are lines of CSV, with shared texts, days, and gaps where cells are missing", () => {
  const texts = sharedTexts(
    "<sst><si><t>지역</t></si><si><r><t>No</t></r><r><t>rth, 1</t></r><rPh><t>x</t></rPh></si></sst>",
  );
  expect(texts).toEqual(["지역", "North, 1"]);
  const days = dayStyles(
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;년&quot;"/><numFmt numFmtId="165" formatCode="0&quot;d&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>',
  );
  expect([...days]).toEqual([1, 2]);
  const sheet = `<sheetData>
    <row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>day "x"</t></is></c></row>
    <row r="2"/><row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><v>1.5</v></c><c r="C3" s="1"><v>45123</v></c><c r="D3" s="2"><v>45123.5</v></c><c r="E3" s="3"><v>3</v></c><c r="F3" t="b"><v>1</v></c><c r="G3" t="str"><f>A1</f><v>f</v></c></row>
    <row r="4"><c r="A4" s="1"/></row></sheetData>`;
  expect([...sheetLines(sheet, { texts, days })]).toEqual([
    '지역,,"day ""x"""',
    '"North, 1",1.5,2023-07-16,2023-07-16 12:00,3,TRUE,f',
  ]);
  expect(sheetNames('<workbook><sheets><sheet name="7월 &amp; 8월" sheetId="1"/></sheets></workbook>')).toEqual([
    "7월 & 8월",
  ]);
});

test("a table of a hundred thousand cells has all its rows", () => {
  const row = `<w:tr>${"<w:tc><w:p><w:t>x</w:t></w:p></w:tc>".repeat(100)}</w:tr>`;
  const lines = paragraphsOf(`<w:tbl>${row.repeat(1_000)}</w:tbl>`).split("\n");
  expect([lines.length, new Set(lines).size, lines[0]?.split("\t").length]).toEqual([1_000, 1, 100]);
});

test("what is no XML, or broken off, gives what there is", () => {
  expect(paragraphsOf("")).toBe("");
  expect(paragraphsOf("plain < a > b <w:t>open")).toBe("");
  expect(paragraphsOf("<w:p><w:t>said</w:t></w:p><w:p><w:t>and</w:t")).toBe("said\nand");
  const far = '<row><c r="ZZZZ1"><v>1</v></c><c r="A1" t="s"><v>99</v></c></row>';
  expect([...sheetLines(far, { texts: [], days: new Set() })]).toEqual([]);
});
