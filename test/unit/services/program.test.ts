// When a program's bundle may stand for its sources.

import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isCurrent } from "../../../services/program.ts";

test("a bundle is used as long as every source in it is the one it was built from", () => {
  const root = mkdtempSync(join(tmpdir(), "owl-bundle-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "a.ts"), "1");
  const { size, mtimeMs } = statSync(join(root, "a.ts"));
  const built = { build: "b1", sources: [["a.ts", size, mtimeMs]] } as const;
  expect(isCurrent("b1", built, root)).toBe(true);
  expect(isCurrent("b2", built, root)).toBe(false);
  expect(isCurrent("b1", null, root)).toBe(false);
  utimesSync(join(root, "a.ts"), 1, 1);
  expect(isCurrent("b1", built, root)).toBe(false);
  rmSync(join(root, "a.ts"));
  expect(isCurrent("b1", built, root)).toBe(false);
});
