// PCM WAV read and cut by ourselves, so that plain recordings need no ffmpeg. Invariant: no byte outside the data chunk
// is taken for sound, whatever the header claims.

import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

export interface WavFormat {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bits: number;
  /** Bytes of one sample of all channels. */
  readonly block: number;
  readonly dataAt: number;
  readonly dataBytes: number;
  readonly durationMs: number;
}

const PCM = 1;
const EXTENSIBLE = 0xfffe;

/** What every recogniser takes: 16 kHz, one channel, 16 bits. */
export function isPlainSpeech(format: WavFormat): boolean {
  return format.channels === 1 && format.sampleRate === 16_000 && format.bits === 16;
}

/** The format of a PCM WAV file, or null when it is none (or is compressed, or broken). */
export async function readWav(path: string): Promise<WavFormat | null> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const head = await readAt(file, 0, 12);
    if (head?.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE") return null;
    let format: Omit<WavFormat, "dataAt" | "dataBytes" | "durationMs"> | null = null;
    for (let at = 12; at + 8 <= size; ) {
      const chunk = await readAt(file, at, 8);
      if (chunk === null) return null;
      const name = chunk.toString("latin1", 0, 4);
      const bytes = chunk.readUInt32LE(4);
      if (name === "fmt ") format = parseFormat(await readAt(file, at + 8, Math.min(bytes, 40)));
      if (name === "fmt " && format === null) return null;
      if (name === "data") {
        if (format === null) return null;
        // A recorder that was cut off leaves 0 or a too large size: what is there is what counts.
        const there = Math.min(bytes === 0 ? size : bytes, size - at - 8);
        const dataBytes = there - (there % format.block);
        const durationMs = (dataBytes / format.block / format.sampleRate) * 1_000;
        return { ...format, dataAt: at + 8, dataBytes, durationMs };
      }
      at += 8 + bytes + (bytes % 2);
    }
    return null;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer | null> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return bytesRead === length ? buffer : null;
}

function parseFormat(chunk: Buffer | null): Omit<WavFormat, "dataAt" | "dataBytes" | "durationMs"> | null {
  if (chunk === null || chunk.length < 16) return null;
  const tag = chunk.readUInt16LE(0);
  const real = tag === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  const block = channels * (bits / 8);
  const sane = channels >= 1 && channels <= 32 && sampleRate >= 1_000 && sampleRate <= 768_000;
  if (real !== PCM || !sane || ![8, 16, 24, 32].includes(bits)) return null;
  return { channels, sampleRate, bits, block };
}

function header(format: WavFormat, dataBytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + dataBytes, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(PCM, 20);
  head.writeUInt16LE(format.channels, 22);
  head.writeUInt32LE(format.sampleRate, 24);
  head.writeUInt32LE(format.sampleRate * format.block, 28);
  head.writeUInt16LE(format.block, 32);
  head.writeUInt16LE(format.bits, 34);
  head.write("data", 36);
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** Writes [startMs, endMs) of `from` as a WAV file of its own. */
export async function cutWav(
  from: string,
  format: WavFormat,
  span: { readonly startMs: number; readonly endMs: number },
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const byteAt = (ms: number) =>
    Math.min(format.dataBytes, Math.round((ms / 1_000) * format.sampleRate) * format.block);
  const start = byteAt(span.startMs);
  const bytes = Math.max(0, byteAt(span.endMs) - start);
  const out = createWriteStream(to, { mode: 0o600 });
  out.write(header(format, bytes));
  if (bytes === 0) {
    out.end();
    return;
  }
  const first = format.dataAt + start;
  await pipeline(createReadStream(from, { start: first, end: first + bytes - 1 }), out, { signal });
}
