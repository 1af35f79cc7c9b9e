// The documented dialect of environment files, on lines that other programs get wrong.

import { describe, expect, test } from "vitest";
import { parseEnvFile } from "../../../config/env-file.ts";

const valuesOf = (line: string) => parseEnvFile(line).values;

describe("bytes are kept", () => {
  test.each([
    ['TOKEN="x1it3km%2BTV"', { TOKEN: "x1it3km%2BTV" }],
    ['V="bar_%s_%s"', { V: "bar_%s_%s" }],
    ['PASSWORD="abc$def"', { PASSWORD: "abc$def" }],
    ["PASSWORD=abc$def", { PASSWORD: "abc$def" }],
    ["P=s7@o8\\p=@us$0!", { P: "s7@o8\\p=@us$0!" }],
    ['P="s7@o8\\p=@us$0!"', { P: "s7@o8\\p=@us$0!" }],
    ["P='s7@o8\\p=@us$0!'", { P: "s7@o8\\p=@us$0!" }],
    ["B=p#q", { B: "p#q" }],
    ['K="{\\"k\\":1}"', { K: '{"k":1}' }],
    ['K="asdf#\\"#sdf\\""#bla', { K: 'asdf#"#sdf"' }],
    ["export A=1", { A: "1" }],
    ["A = spaced  ", { A: "spaced" }],
    ['PEM="-----BEGIN\nabc=\n-----END"', { PEM: "-----BEGIN\nabc=\n-----END" }],
    ["EMPTY=", { EMPTY: "" }],
    ["A=한글 값", { A: "한글 값" }],
    ["A=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["A='it''s'", {}],
  ])("%j", (line, values) => {
    if (Object.keys(values).length === 0) expect(parseEnvFile(line).problems).toHaveLength(1);
    else expect(parseEnvFile(line)).toMatchObject({ values, problems: [] });
  });
});

test("comments never count", () => {
  expect(valuesOf("# FOO=old\nFOO=\n#FOO=wrong\n  # FOO=worse\n")).toEqual({ FOO: "" });
});

test("a key given twice has its last value, and a warning", () => {
  const file = parseEnvFile("K=1\n\nK=2\n");
  expect(file.values).toEqual({ K: "2" });
  expect(file.warnings).toEqual([{ line: 3, column: 1, message: expect.stringContaining("first in line 1") }]);
});

test("a # after a blank belongs to the value, and a warning says so", () => {
  const file = parseEnvFile("A=one # two");
  expect(file.values).toEqual({ A: "one # two" });
  expect(file.warnings[0]?.message).toContain("only whole lines are comments");
});

test.each([
  ["no equals sign", "A=1\nwhat is this\n", { line: 2, column: 1 }],
  ["a bad key", "1A=x", { line: 1, column: 1 }],
  ["a quote never closed", 'A=1\nB="x\nC=2', { line: 2, column: 3 }],
  ["text after the quote", 'A="x"y', { line: 1, column: 3 }],
])("%s is a problem with its place", (_, text, place) => {
  expect(parseEnvFile(text).problems[0]).toMatchObject(place);
});

test("lines are counted through values that span several", () => {
  expect(parseEnvFile('A="1\n2"\nbad line\n').problems).toMatchObject([{ line: 3 }]);
});
