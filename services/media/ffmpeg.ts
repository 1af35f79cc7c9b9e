// ffmpeg and ffprobe. Invariant: they read the one file they are given; no network, no other protocol.

import type { Clock } from "../../config/time.ts";
import type { Pause, SegmentSpan } from "../core/transcript.ts";
import { failure } from "../core/wire/errors.ts";
import { findProgram, runProgram } from "./program.ts";

export interface Ffmpeg {
  /** Length of the recording in ms; null when it holds no sound. Throws `recording.broken`. */
  probe(file: string, signal: AbortSignal): Promise<number | null>;
  /** Where nobody speaks. */
  pauses(file: string, durationMs: number, signal: AbortSignal): Promise<readonly Pause[]>;
  /** Writes the span as 16 kHz mono WAV. */
  cut(file: string, span: SegmentSpan, to: string, signal: AbortSignal): Promise<void>;
}

const INPUT = ["-nostdin", "-hide_banner", "-protocol_whitelist", "file,pipe"];
const lastLine = (text: string) => text.trim().split("\n").at(-1)?.slice(0, 300) ?? "";

/** The installed ffmpeg, or null when ffmpeg or ffprobe is missing. */
export function findFfmpeg(clock: Clock, path?: string): Ffmpeg | null {
  const ffmpeg = findProgram("ffmpeg", path);
  const ffprobe = findProgram("ffprobe", path);
  if (ffmpeg === null || ffprobe === null) return null;
  const input = (file: string) => `file:${file}`;

  return {
    async probe(file, signal) {
      const entries = "format=duration:stream=codec_type,duration";
      const argv = [ffprobe, "-v", "error", "-protocol_whitelist", "file,pipe", "-show_entries", entries] as const;
      const done = await runProgram({
        argv: [...argv, "-of", "json", input(file)],
        signal,
        clock,
        timeoutMs: 60_000,
      });
      if (done.code !== 0) throw failure("recording.broken", { act: "read", why: lastLine(done.stderr) });
      const found = JSON.parse(done.stdout) as {
        streams?: readonly { codec_type?: string; duration?: string }[];
        format?: { duration?: string };
      };
      const sound = found.streams?.find((stream) => stream.codec_type === "audio");
      if (!sound) return null;
      const seconds = Number(found.format?.duration ?? sound.duration);
      // Some streams tell no length: it is measured by decoding.
      if (Number.isFinite(seconds) && seconds > 0) return seconds * 1_000;
      return measure(file, signal);
    },

    async pauses(file, durationMs, signal) {
      const done = await runProgram({
        argv: [
          ffmpeg,
          ...INPUT,
          "-i",
          input(file),
          "-vn",
          "-af",
          "silencedetect=noise=-35dB:d=0.25,ametadata=print:file=-",
          "-f",
          "null",
          "/dev/null",
        ],
        signal,
        clock,
        timeoutMs: 60_000 + durationMs,
      });
      if (done.code !== 0) return [];
      return readPauses(done.stdout, durationMs);
    },

    async cut(file, span, to, signal) {
      const seconds = (ms: number) => (ms / 1_000).toFixed(3);
      const done = await runProgram({
        argv: [
          ffmpeg,
          ...INPUT,
          "-v",
          "error",
          "-ss",
          seconds(span.startMs),
          "-t",
          seconds(span.endMs - span.startMs),
          "-i",
          input(file),
          "-map",
          "0:a:0",
          "-vn",
          "-ac",
          "1",
          "-ar",
          "16000",
          "-c:a",
          "pcm_s16le",
          "-map_metadata",
          "-1",
          "-bitexact",
          "-y",
          to,
        ],
        signal,
        clock,
        timeoutMs: 600_000,
      });
      if (done.code !== 0) throw failure("recording.broken", { act: "decoded", why: lastLine(done.stderr) });
    },
  };

  async function measure(file: string, signal: AbortSignal): Promise<number | null> {
    const done = await runProgram({
      argv: [
        ffmpeg as string,
        ...INPUT,
        "-v",
        "error",
        "-progress",
        "pipe:1",
        "-i",
        input(file),
        "-map",
        "0:a:0",
        "-f",
        "null",
        "/dev/null",
      ],
      signal,
      clock,
      timeoutMs: 3_600_000,
    });
    if (done.code !== 0) throw failure("recording.broken", { act: "decoded", why: lastLine(done.stderr) });
    const times = [...done.stdout.matchAll(/^out_time_us=(\d+)$/gm)];
    const last = Number(times.at(-1)?.[1] ?? 0);
    return last > 0 ? last / 1_000 : null;
  }
}

/** silencedetect's marks as pauses; one that lasts to the end is closed there. */
export function readPauses(printed: string, durationMs: number): readonly Pause[] {
  const pauses: Pause[] = [];
  let startMs: number | null = null;
  for (const [, what, seconds] of printed.matchAll(/silence_(start|end)=(-?[\d.]+)/g)) {
    const ms = Math.max(0, Number(seconds) * 1_000);
    if (what === "start") startMs = ms;
    else if (startMs !== null) {
      pauses.push({ startMs, endMs: ms });
      startMs = null;
    }
  }
  if (startMs !== null && durationMs > startMs) pauses.push({ startMs, endMs: durationMs });
  return pauses;
}
