import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cutWav, isPlainSpeech, readWav } from "../../../../services/media/wav.ts";
import { wavBytes } from "../../../support/recordings.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-wav-");
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function file(name: string, bytes: Buffer): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, bytes);
  return path;
}

test("reads what a plain recording is and cuts it into parts that are together the whole", async () => {
  const bytes = wavBytes(3);
  const path = await file("plain.wav", bytes);
  const wav = await readWav(path);
  if (wav === null) throw new Error("it is a WAV file");
  expect(wav).toMatchObject({ channels: 1, sampleRate: 16_000, bits: 16, durationMs: 3_000 });
  expect(isPlainSpeech(wav)).toBe(true);
  const signal = new AbortController().signal;
  const parts: Buffer[] = [];
  for (const [startMs, endMs] of [
    [0, 1_000],
    [1_000, 2_345],
    [2_345, 3_000],
  ] as const) {
    const to = join(dir, `${startMs}.wav`);
    await cutWav(path, wav, { startMs, endMs }, to, signal);
    expect((await readWav(to))?.durationMs).toBeCloseTo(endMs - startMs, 0);
    parts.push((await readFile(to)).subarray(44));
  }
  expect(Buffer.concat(parts).equals(bytes.subarray(44))).toBe(true);
});

test("takes no byte beyond the file for sound, whatever the header claims", async () => {
  const lying = wavBytes(1);
  lying.writeUInt32LE(0xffffffff, 40);
  expect((await readWav(await file("lying.wav", lying)))?.durationMs).toBe(1_000);
  const cutOff = wavBytes(1);
  cutOff.writeUInt32LE(0, 40);
  expect((await readWav(await file("cut-off.wav", cutOff)))?.durationMs).toBe(1_000);
});

test.each([
  ["a text", Buffer.from("this is no recording at all, only a text")],
  ["an empty file", Buffer.alloc(0)],
  ["only a header", wavBytes(1).subarray(0, 20)],
  ["a compressed one", Buffer.concat([wavBytes(1).subarray(0, 20), Buffer.from([85, 0]), wavBytes(1).subarray(22)])],
])("is null for %s", async (name, bytes) => {
  expect(await readWav(await file(`${name}.wav`, bytes))).toBeNull();
});
