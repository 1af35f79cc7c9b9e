// The archive and the recogniser of a chaos run. Each recording sounds different; the recogniser's text is a hash of the
// sound it was given, so that a text tells whether any segment was lost, doubled or mixed up.

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const RATE = 8_000;

/** 16-bit mono PCM: a tone of its own for each `n`. */
function wav(n: number, seconds: number): Buffer {
  const samples = Math.round(seconds * RATE);
  const bytes = Buffer.alloc(44 + 2 * samples);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + 2 * samples, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(RATE, 24);
  bytes.writeUInt32LE(2 * RATE, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * samples, 40);
  for (let i = 0; i < samples; i++)
    bytes.writeInt16LE(Math.round(6_000 * Math.sin(i / (4 + n * 0.37) + (i / RATE) ** 1.5)), 44 + 2 * i);
  return bytes;
}

export interface Recordings {
  readonly dir: string;
  readonly count: number;
  readonly engine: readonly string[];
}

/** `count` recordings below `parent`, every fourth one long enough for several segments. */
export async function makeRecordings(parent: string, count: number): Promise<Recordings> {
  const dir = join(parent, "archive");
  await mkdir(dir, { recursive: true });
  for (let n = 0; n < count; n++) await writeFile(join(dir, `r${n}.wav`), wav(n, n % 4 === 3 ? 75 : 1));
  const engine = join(parent, "engine.sh");
  await writeFile(engine, '#!/bin/sh\nsleep 0.4\nprintf "words "\nmd5sum < "$1" | cut -c1-16\n');
  await chmod(engine, 0o755);
  return { dir, count, engine: [engine, "{file}"] };
}
