// The shape of every file; and the rule itself on files it must refuse.

import { expect, test } from "vitest";
import { shapeOf } from "../../support/rules/shape-rule.ts";
import { sources } from "../../support/rules/sources.ts";

test("every source has the shape of a source", () => {
  expect(sources().flatMap(shapeOf)).toEqual([]);
});

test.each([
  ["config/utils.ts", "// x\n"],
  ["config/index.ts", "// x\n"],
  ["config/someThing.ts", "// x\n"],
  ["config/x.ts", "import a;\n"],
  ["config/x.ts", `// x\n${"a\n".repeat(400)}`],
])("%s is refused", (path, text) => expect(shapeOf({ path, text })).toHaveLength(1));
