// Files of uploads into a backup directory: what cannot be read is named, and stops nothing else.

import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../../config/system-time.ts";
import { unpack } from "../../../../../supervisor/postgres/backups/codec.ts";
import { claimPlace } from "../../../../../supervisor/postgres/backups/directory.ts";
import { openUploadKeeper } from "../../../../../supervisor/postgres/backups/uploads.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "owl-uploads-"));
  for (const name of ["backup", "uploads"]) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const never = new AbortController().signal;

async function setup(directory = join(root, "uploads")) {
  const path = join(root, "backup");
  const claim = { path, installation: "one", holder: "home", held: false, passphrase: null, nowMs: 0 };
  const place = await claimPlace(claim);
  return { place, keeper: await openUploadKeeper({ clock: systemClock, place, directory, bytesPerS: 0 }) };
}

test("an upload that cannot be read is named; the others are kept whole", async () => {
  const { place, keeper } = await setup();
  const [good, empty, bad] = [randomUUID(), randomUUID(), randomUUID()];
  writeFileSync(join(root, "uploads", good), "a recording");
  writeFileSync(join(root, "uploads", empty), "");
  // What no read succeeds on, whoever asks.
  mkdirSync(join(root, "uploads", bad));
  expect(await keeper.runOnce(never)).toEqual([bad]);
  const stored = await place.uploads();
  expect(stored.map(({ id, bytes }) => [id, bytes]).toSorted()).toEqual(
    [
      [good, 11],
      [empty, 0],
    ].toSorted(),
  );
  const found = stored.find(({ id }) => id === good);
  const chunks: Buffer[] = [];
  for await (const chunk of unpack(place.file("uploads", found?.name ?? ""), found?.sha256 ?? "", null))
    chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("a recording");
  expect(readdirSync(place.file("uploads")).filter((name) => name.startsWith(".new-"))).toEqual([]);
});

test("it is kept as soon as it can be read, and a grown one takes the place of the shorter", async () => {
  const { place, keeper } = await setup();
  const id = randomUUID();
  mkdirSync(join(root, "uploads", id));
  expect(await keeper.runOnce(never)).toEqual([id]);
  rmSync(join(root, "uploads", id), { recursive: true });
  for (const text of ["begun", "begun and ended"]) {
    writeFileSync(join(root, "uploads", id), text);
    expect(await keeper.runOnce(never)).toEqual([]);
    expect((await place.uploads()).map(({ bytes }) => bytes)).toEqual([text.length]);
  }
});

test("a directory of uploads that cannot be listed is told; one that is not there yet holds none", async () => {
  writeFileSync(join(root, "file"), "");
  expect(await (await setup(join(root, "file"))).keeper.runOnce(never)).toEqual([join(root, "file")]);
  expect(await (await setup(join(root, "none"))).keeper.runOnce(never)).toEqual([]);
});

test("one that is cut says so: the log must not go on as if all were there", async () => {
  const { keeper } = await setup();
  writeFileSync(join(root, "uploads", randomUUID()), "a recording");
  await expect(keeper.runOnce(AbortSignal.abort())).rejects.toThrow();
});
