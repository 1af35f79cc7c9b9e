// Code compiled once for the processes to come, with real Node processes.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CodeToCompile, compileOnce } from "../../../../supervisor/process/compiled-code.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "owl-compiled-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A program that notes each of its runs. */
function program(changes: Partial<CodeToCompile> = {}): { code: CodeToCompile; runs: () => number } {
  const runs = join(home, "runs");
  mkdirSync(runs, { recursive: true });
  const main = join(home, "main.ts");
  writeFileSync(
    main,
    `import { mkdtempSync } from "node:fs";\nconst where: string = ${JSON.stringify(`${runs}/`)};\nmkdtempSync(where);\n`,
  );
  const code: CodeToCompile = {
    argv: [process.execPath, main],
    env: {},
    cwd: home,
    directory: join(home, "cache", "node"),
    key: "1.0.0",
    ...changes,
  };
  return { code, runs: () => readdirSync(runs).length };
}

test("it runs once for a key, keeps the code, and again for another key", async () => {
  const { code, runs } = program();
  await compileOnce(code);
  await compileOnce(code);
  expect(runs()).toBe(1);
  const kept = readdirSync(code.directory, { recursive: true, withFileTypes: true });
  expect(kept.filter((entry) => entry.isFile()).length).toBeGreaterThan(1);
  await compileOnce({ ...code, key: "1.0.1" });
  expect(runs()).toBe(2);
});

test("a program that fails, or a directory that cannot be made, is no failure, and is tried again", async () => {
  const failing = program({ argv: [process.execPath, "-e", "process.exit(3)"] });
  await compileOnce(failing.code);
  expect(readdirSync(failing.code.directory).filter((name) => name.startsWith("compiled-"))).toEqual([]);
  writeFileSync(join(home, "file"), "");
  const nowhere = program({ directory: join(home, "file", "cache") });
  await compileOnce(nowhere.code);
  expect(nowhere.runs()).toBe(0);
  expect(existsSync(join(home, "file", "cache"))).toBe(false);
});
