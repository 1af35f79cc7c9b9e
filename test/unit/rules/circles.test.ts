// No file needs, over others, itself; and the rule on files that do.

import { expect, test } from "vitest";
import { circlesOf } from "../../support/rules/circle-rule.ts";
import { sources } from "../../support/rules/sources.ts";

test("no imports go in a circle", () => {
  expect(circlesOf(sources())).toEqual([]);
});

const file = (path: string, ...imported: string[]) => ({
  path,
  text: imported.map((one) => `import type { A } from "${one}";\n`).join(""),
});

test("a circle of types over three files is found, a mere chain is not", () => {
  const chain = [file("a/x.ts", "./y.ts"), file("a/y.ts", "../b/z.ts"), file("b/z.ts")];
  expect(circlesOf(chain)).toEqual([]);
  expect(circlesOf([...chain.slice(0, 2), file("b/z.ts", "../a/x.ts")])).toEqual([["a/x.ts", "a/y.ts", "b/z.ts"]]);
});
