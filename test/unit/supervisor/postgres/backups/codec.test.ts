import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Key, pack, stretch, unpack, unpackWhole } from "../../../../../supervisor/postgres/backups/codec.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "owl-codec-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const KEY = stretch("correct horse battery staple", "c2FsdHNhbHQ=");

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const told = (one: PromiseSettledResult<Buffer>) => (one.status === "rejected" ? one.reason.code : one.value);

async function read(stored: Buffer, key: Key, named = stored): Promise<Buffer> {
  const file = join(dir, "file");
  writeFileSync(file, stored);
  const sha256 = createHash("sha256").update(named).digest("hex");
  // As a stream and at once: neither may take what the other refuses.
  const [streamed, atOnce] = await Promise.allSettled([
    whole(unpack(file, sha256, key)),
    unpackWhole(file, sha256, key),
  ]);
  expect(told(atOnce)).toEqual(told(streamed));
  if (streamed.status === "rejected") throw streamed.reason;
  return streamed.value;
}

test.each([0, 1, 65_535, 65_536, 65_537, 300_000])(
  "%i bytes come back as they were, plain and sealed",
  async (bytes) => {
    const plain = randomBytes(bytes);
    for (const key of [null, KEY]) {
      const stored = await whole(pack([plain], key));
      expect((await read(stored, key)).equals(plain)).toBe(true);
      expect(stored.includes(plain) && bytes > 16 && key !== null).toBe(false);
    }
  },
);

test("a byte changed, cut off or added is damage, also where its hash was made to fit", async () => {
  const stored = await whole(pack([randomBytes(200_000)], KEY));
  const changed = Buffer.from(stored);
  changed[100_000] = (changed[100_000] ?? 0) ^ 1;
  const cut = stored.subarray(0, stored.length - 70_000);
  // Whole chunks alone: what is missing is the last one.
  const chunks = stored.subarray(0, 40 + 65_552);
  for (const bad of [changed, cut, chunks, Buffer.concat([stored, Buffer.from("x")])]) {
    await expect(read(bad, KEY)).rejects.toMatchObject({ code: "backup.damaged" });
    await expect(read(bad, KEY, stored)).rejects.toMatchObject({ code: "backup.damaged" });
  }
});

test("another key opens nothing, and a plain file is none that was sealed", async () => {
  const plain = randomBytes(1_000);
  const sealed = await whole(pack([plain], KEY));
  await expect(read(sealed, stretch("another passphrase", "c2FsdHNhbHQ="))).rejects.toMatchObject({
    code: "backup.damaged",
  });
  await expect(read(await whole(pack([plain], null)), KEY)).rejects.toMatchObject({ code: "backup.damaged" });
});

test("a file that is not there is missing", async () => {
  await expect(whole(unpack(join(dir, "none"), "", null))).rejects.toMatchObject({ code: "backup.missing" });
});
