// One recording on disk: where it lies, how long it is, and its segments as files. Invariant: what ffmpeg or a recogniser
// sees was found to be a recording by its content, and lies in the uploads or inside an archive root.

import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AppConfig } from "../../../config/config.ts";
import { OwlError } from "../../../config/errors.ts";
import type { Clock } from "../../../config/time.ts";
import { planSegments, type SegmentSpan, SHORT_MS } from "../../core/transcript.ts";
import { failure } from "../../core/wire/errors.ts";
import { resolveInside } from "../../media/archive.ts";
import { type Ffmpeg, findFfmpeg } from "../../media/ffmpeg.ts";
import { recordingType } from "../../media/recording-type.ts";
import { cutWav, isPlainSpeech, readWav, type WavFormat } from "../../media/wav.ts";

export interface Recording {
  readonly durationMs: number;
  /** Where to cut it; the same file is always cut alike by the same tools. */
  plan(signal: AbortSignal): Promise<readonly SegmentSpan[]>;
  /** A WAV file of that span, in `dir` or the recording itself. */
  segmentFile(span: SegmentSpan, dir: string, signal: AbortSignal): Promise<string>;
}

/** The path of the job's file, checked again now: a link may have changed since the plan. Throws `recording.missing`. */
export async function locate(
  job: { readonly uploadId: string | null; readonly path: string | null },
  config: AppConfig,
): Promise<string> {
  if (job.uploadId !== null) return join(config.uploadsDir, job.uploadId);
  try {
    return await resolveInside(job.path ?? "", config.archiveRoots);
  } catch (error) {
    if (error instanceof OwlError && error.code === "path.notFound") {
      throw failure("recording.missing", {}, { cause: error });
    }
    throw error;
  }
}

/** Opens it. Throws `recording.missing`, `recording.notOne`, `recording.silent`, `recording.broken`, `ffmpeg.missing`. */
export async function openRecording(
  file: string,
  clock: Clock,
  signal: AbortSignal,
  path?: string,
): Promise<Recording> {
  const type = await recordingType(file).catch((error: unknown) => {
    throw failure("recording.missing", {}, { cause: error });
  });
  if (type === null) throw failure("recording.notOne");
  const wav = await readWav(file);
  const ffmpeg = findFfmpeg(clock, path);
  if (wav === null && ffmpeg === null) throw failure("ffmpeg.missing");
  const durationMs = wav?.durationMs ?? (await ffmpeg?.probe(file, signal)) ?? 0;
  if (durationMs <= 0) throw failure("recording.silent");
  return {
    durationMs,
    async plan(planSignal) {
      if (durationMs <= SHORT_MS || ffmpeg === null) return planSegments(durationMs);
      return planSegments(durationMs, await ffmpeg.pauses(file, durationMs, planSignal));
    },
    segmentFile: (span, dir, cutSignal) => segmentFile(file, wav, ffmpeg, span, dir, cutSignal),
  };
}

async function segmentFile(
  file: string,
  wav: WavFormat | null,
  ffmpeg: Ffmpeg | null,
  span: SegmentSpan,
  dir: string,
  signal: AbortSignal,
): Promise<string> {
  const whole = wav !== null && span.startMs === 0 && span.endMs >= Math.round(wav.durationMs);
  if (wav !== null && isPlainSpeech(wav) && whole) return file;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const name = basename(file)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .slice(0, 60);
  const to = join(dir, `${name}-${String(span.n).padStart(5, "0")}.wav`);
  if (wav !== null && (isPlainSpeech(wav) || ffmpeg === null)) await cutWav(file, wav, span, to, signal);
  else await ffmpeg?.cut(file, span, to, signal);
  return to;
}

/**
 * Where this attempt's segment files lie; what earlier attempts left is removed. A room of its own for each attempt: a
 * worker that was frozen tidies up what is its own when it wakes, and must not take away its successor's files.
 */
export async function cuttingRoom(
  config: Pick<AppConfig, "uploadsDir">,
  { id, attempt }: { readonly id: string; readonly attempt: number },
): Promise<string> {
  const parent = join(config.uploadsDir, ".cut");
  for (const name of await readdir(parent).catch(() => [] as string[]))
    if (name === id || (name.startsWith(`${id}.`) && Number(name.slice(id.length + 1)) < attempt))
      await rm(join(parent, name), { recursive: true, force: true });
  return join(parent, `${id}.${attempt}`);
}
