// Whose signature is taken, in minisign's format. No release is unpacked here: the archive is any file.

import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  checkSignature,
  knownKeys,
  makeKey,
  parseKeys,
  signArchive,
  signatureFile,
  unsignedFolder,
} from "../../../../supervisor/release/signature.ts";

let dir: string;
let archive: string;
const ours = makeKey();
const theirs = makeKey();
const keys = parseKeys(ours.public);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "owl-signature-"));
  archive = join(dir, "owl-1.1.0.tar.zst");
  await writeFile(join(dir, "ours.key"), ours.secret);
  await writeFile(join(dir, "theirs.key"), theirs.secret);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Checks an archive of these bytes with that signature beside it. */
async function check(bytes: string, signature: string | null, allowUnsigned = false, known = keys) {
  await writeFile(archive, bytes);
  await rm(signatureFile(archive), { force: true });
  if (signature !== null) await writeFile(signatureFile(archive), signature);
  const file = await open(archive);
  try {
    return await checkSignature(archive, file, { keys: known, allowUnsigned });
  } finally {
    await file.close();
  }
}

async function signed(bytes: string, by: "ours" | "theirs"): Promise<string> {
  await writeFile(archive, bytes);
  return await signArchive(archive, join(dir, `${by}.key`), "owl 1.1.0");
}

test("an archive signed by a known key is taken", async () => {
  expect(await check("release", await signed("release", "ours"))).toBe("checked");
});

test("one without a signature, or by another key, is taken only when somebody vouches for it", async () => {
  for (const signature of [null, await signed("release", "theirs")]) {
    await expect(check("release", signature)).rejects.toMatchObject({ code: "release.unsigned" });
    expect(await check("release", signature, true)).toBe("allowed");
  }
  expect(() => unsignedFolder("/srv/1.1.0", { keys, allowUnsigned: false })).toThrow(/no signature/);
});

test("a signature that does not fit is never taken, not even when somebody vouches for it", async () => {
  const good = await signed("release", "ours");
  const lines = good.split("\n");
  const otherRemark = good.replace("owl 1.1.0", "owl 9.9.9");
  const cut = lines.slice(0, 2).join("\n");
  for (const [bytes, signature] of [
    ["changed", good],
    ["release", otherRemark],
    ["release", cut],
    ["release", "no signature at all"],
  ] as const)
    await expect(check(bytes, signature, true), signature).rejects.toMatchObject({ code: "release.signature" });
});

test("without a known key nothing is looked at, and that is said", async () => {
  expect(await check("release", null, false, [])).toBe("unknown");
});

test("the signature and key of minisign itself are understood", async () => {
  const key = `untrusted comment: minisign public key\nRWTKe9cfjDwg9vCjVqxeB1kHf4vmO8ld+19/Q53wygXxk+bxm5X9eEg5\n`;
  const signature = [
    "untrusted comment: signature from minisign secret key",
    "RUTKe9cfjDwg9kUmyAW7eRwyWJKr4g/2xVneHdxbbI9c8M6U6zFtGPG0cfQfw7w9lNbLw8wRoVmTwSkpB/VMzF+d2loKKR4K+g4=",
    "trusted comment: made by minisign",
    "MA1zgJLmIszrymuU6iy+vTO042PcQSZkwBhvlXQzDyIfVzvcZSYR+kp1CaDO6s6v26jMnZhWMvgz8kXRm0PqDg==",
  ].join("\n");
  expect(await check("release\n", signature, false, parseKeys(key))).toBe("checked");
});

test("the keys of the home count before those of the running release; a damaged file is not taken for none", async () => {
  const [home, running] = [join(dir, "home"), join(dir, "running")];
  for (const one of [home, running]) await mkdir(one, { recursive: true });
  expect(await knownKeys(home, running)).toEqual([]);
  // Both keys while one is exchanged for the other.
  await writeFile(join(running, "release.pub"), theirs.public + ours.public);
  expect((await knownKeys(home, running)).map(({ id }) => id)).toEqual(
    parseKeys(theirs.public + ours.public).map(({ id }) => id),
  );
  await writeFile(join(home, "release.pub"), ours.public);
  expect(await knownKeys(home, running)).toEqual(keys);
  await writeFile(join(home, "release.pub"), "damaged");
  await expect(knownKeys(home, running)).rejects.toMatchObject({ code: "release.keys" });
});
