// Time and chance only through Clock and Random; and the rule itself on lines it must refuse.

import { expect, test } from "vitest";
import { sources } from "../../support/rules/sources.ts";
import { timeAndChance } from "../../support/rules/time-rule.ts";

test("no source outside the adapters touches the machine's time or chance", () => {
  expect(sources().flatMap(timeAndChance)).toEqual([]);
});

test.each([
  "const a = Date.now();",
  "const a = Date . now();",
  "const f = Date.now;",
  "const a = new Date();",
  "const a = new Date( );",
  "const a = [new Date].length;",
  "const a = Date();",
  "setTimeout(run, 5);",
  "await new Promise((r) => setTimeout(r, 5));",
  "globalThis.setTimeout(run, 5);",
  "const t = setInterval(run, 5);",
  "const a = Math.random();",
  "const a = performance.now();",
  "const a = process.hrtime.bigint();",
  "const a = `${Date.now()}`;",
  'import { setTimeout as sleep } from "node:timers/promises";',
  'const url = "http://x"; const a = Date.now();',
])("it refuses: %s", (line) => {
  expect(timeAndChance({ path: "supervisor/x.ts", text: `// x\n${line}\n` }).length).toBeGreaterThan(0);
});

test.each([
  "const a = new Date(at);",
  "const a = Date.parse(text);",
  "socket.setTimeout(5);",
  "// Date.now() would be wrong here",
  'const a = "Math.random()";',
  "const a = clock.now();",
  "let at: Date;",
])("it lets pass: %s", (line) => {
  expect(timeAndChance({ path: "supervisor/x.ts", text: `${line}\n` })).toEqual([]);
});

test("the adapters are the only ones allowed", () => {
  const text = "const a = Date.now();";
  expect(timeAndChance({ path: "config/system-time.ts", text })).toEqual([]);
  expect(timeAndChance({ path: "config/time.ts", text })).toHaveLength(1);
});
