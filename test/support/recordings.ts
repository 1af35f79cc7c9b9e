// Recordings and recognisers for tests: WAV files made here, and engines that are small shell scripts.

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** 16-bit mono PCM of `seconds`: a tone, silent for the last half second of every 20 when `pauses`. */
export function wavBytes(seconds: number, sampleRate = 16_000, pauses = false): Buffer {
  const samples = Math.round(seconds * sampleRate);
  const bytes = Buffer.alloc(44 + 2 * samples);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + 2 * samples, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(2 * sampleRate, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * samples, 40);
  for (let i = 0; i < samples; i++) {
    const silent = pauses && (i / sampleRate) % 20 >= 19.5;
    bytes.writeInt16LE(silent ? 0 : Math.round(6_000 * Math.sin(i / 5)), 44 + 2 * i);
  }
  return bytes;
}

/** A folder of `count` recordings `v0.wav`, ... of `seconds` each. */
export async function archiveOf(dir: string, count: number, seconds = 0.5): Promise<string> {
  await mkdir(dir, { recursive: true });
  const bytes = wavBytes(seconds);
  for (let i = 0; i < count; i++) await writeFile(join(dir, `v${i}.wav`), bytes);
  return dir;
}

/** A recogniser: notes each call in `calls`, takes `seconds`, prints a hash of the sound it was given. */
export async function engineScript(
  dir: string,
  seconds: number,
): Promise<{ readonly command: readonly string[]; readonly calls: string }> {
  const file = join(dir, "engine.sh");
  const calls = join(dir, "engine.calls");
  await writeFile(calls, "");
  await writeFile(
    file,
    `#!/bin/sh\necho "$1" >> ${calls}\nsleep ${seconds}\nprintf 'words '\nmd5sum < "$1" | cut -c1-12\n`,
  );
  await chmod(file, 0o755);
  return { command: [file, "{file}"], calls };
}
