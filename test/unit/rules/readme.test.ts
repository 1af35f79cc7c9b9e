// The README's walks name files that are there, and few enough of them to read.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const readme = readFileSync(`${root}/README.md`, "utf8");
const architecture = /\n## Architecture\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
const filesIn = (text: string) => [...new Set([...text.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path]) => path ?? ""))];

test("every file the architecture names is there", () => {
  expect(filesIn(architecture).length).toBeGreaterThan(20);
  expect(filesIn(architecture).filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
});

test("each walk is under twelve files", () => {
  const walks = architecture.split(/\n(?=\*\*A )/).slice(1);
  expect(walks).toHaveLength(3);
  for (const walk of walks) expect(filesIn(walk.split("\nAn **update**")[0] ?? "").length, walk).toBeLessThan(12);
});
