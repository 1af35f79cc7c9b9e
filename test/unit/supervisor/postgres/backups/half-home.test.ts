// A restore, cut after each act: a home that does not say it is half of one is empty or whole.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { homePaths } from "../../../../../config/home.ts";
import type { Disk } from "../../../../../supervisor/postgres/backups/disk.ts";
import { markHalf, markWhole } from "../../../../../supervisor/postgres/backups/half-home.ts";
import { makeHome, RESTORING } from "../../../../../supervisor/state/home.ts";
import { createPaperFiles } from "../../../../support/paper-files.ts";

const written = { "/home/postgres/data/base": "rows", "/home/state/owl.sqlite": "facts", "/home/uploads/1": "bytes" };

/** As a restore fills a home: a server that syncs nothing, files that nobody synced. */
async function restore(disk: Disk): Promise<void> {
  await markHalf("/home", RESTORING, "{}", disk);
  for (const [path, text] of Object.entries(written)) {
    const file = await disk.create(path);
    await file.write(Buffer.from(text));
    await file.close();
  }
  await markWhole("/home", RESTORING, ["/home/postgres/data", "/home/uploads", "/home"], disk);
}

/** How many acts it takes until a cut leaves half a home that does not say so; -1: none does. */
function brokenCut(paper: ReturnType<typeof createPaperFiles>): number {
  for (let count = 0; count <= paper.acts.length; count++)
    for (const left of [paper.worstAfter(count), paper.namesAfter(count), ...paper.returnedAfter(count)]) {
      const isWhole = Object.entries(written).every(([path, text]) => left.get(path) === text);
      if (left.size > 0 && !left.has(`/home/${RESTORING}`) && !isWhole) return count;
    }
  return -1;
}

test("wherever a restore is cut, the home says that it is half of one, until it is whole", async () => {
  const paper = createPaperFiles();
  await restore(paper.disk);
  expect(brokenCut(paper)).toBe(-1);
  expect(Object.fromEntries(paper.worstAfter(paper.acts.length))).toEqual(written);
});

test.each(["syncTree", "syncDirectory"] as const)(
  "without %s a cut is found that leaves half of one unsaid",
  async (left) => {
    const paper = createPaperFiles();
    await restore({ ...paper.disk, [left]: async () => undefined });
    expect(brokenCut(paper)).not.toBe(-1);
  },
);

test("no owld starts on half a home, and it says what to do", () => {
  const home = mkdtempSync(join(tmpdir(), "owl-half-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, RESTORING));
  expect(() => makeHome(homePaths(home))).toThrow(
    expect.objectContaining({ code: "home.restoring", next: expect.stringContaining("owlctl restore") }),
  );
});
