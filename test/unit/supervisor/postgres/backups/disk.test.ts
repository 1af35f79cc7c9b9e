// Every prefix of what a backup writes, as a power cut may leave it.

import { expect, test } from "vitest";
import { type Disk, writeWhole } from "../../../../../supervisor/postgres/backups/disk.ts";
import { createPaperFiles } from "../../../../support/paper-files.ts";

const contents = { "data.tar": "a database", "home.json": "secrets", "manifest.json": "all of it" };

async function backUp(disk: Disk): Promise<void> {
  for (const [name, text] of Object.entries(contents))
    await writeWhole(disk, "/backup", [Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))], () => name);
}

test("whatever was cut, a name stands for the whole of its content, and a manifest for all that it lists", async () => {
  const paper = createPaperFiles();
  await backUp(paper.disk);
  for (let count = 0; count <= paper.acts.length; count++)
    for (const left of [paper.worstAfter(count), paper.namesAfter(count)]) {
      for (const [path, text] of left)
        expect(text).toBe(contents[path.replace("/backup/", "") as keyof typeof contents]);
      if (left.has("/backup/manifest.json")) expect(left.size).toBe(3);
    }
  expect(paper.worstAfter(paper.acts.length).size).toBe(3);
});

test.each(["syncFile", "syncDirectory"] as const)("without %s a prefix is found that breaks it", async (left) => {
  const paper = createPaperFiles();
  const { disk } = paper;
  await backUp({
    ...disk,
    async create(path) {
      const file = await disk.create(path);
      return left === "syncFile" ? { ...file, sync: async () => undefined } : file;
    },
    syncDirectory: left === "syncDirectory" ? async () => undefined : disk.syncDirectory,
  });
  const end = paper.acts.length;
  const broken = [...paper.namesAfter(end).values()].includes("") || paper.worstAfter(end).size < 3;
  expect(broken).toBe(true);
});

test("a write that fails leaves nothing behind and tells why", async () => {
  const paper = createPaperFiles();
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from("a");
    throw new Error("the source broke off");
  };
  await expect(writeWhole(paper.disk, "/backup", failing(), () => "x")).rejects.toThrow("broke off");
  expect(paper.acts.at(-1)).toEqual({ do: "remove", path: "/backup/.new-x" });
});
