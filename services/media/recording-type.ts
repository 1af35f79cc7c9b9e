// Is it a recording? By content, never by name: a playlist or script in disguise must not reach ffmpeg.

import { isRecordingType } from "../core/recording-types.ts";

/** Its media type when the content is audio or video, else null. */
export async function recordingType(path: string): Promise<string | null> {
  const { fileTypeFromFile } = await import("file-type");
  const found = await fileTypeFromFile(path).catch((error: NodeJS.ErrnoException) => {
    // file-type throws its own end-of-stream error for files too short to tell.
    if (error.code?.startsWith("E")) throw error;
    return undefined;
  });
  if (!found) return null;
  return isRecordingType(found.mime) ? found.mime : null;
}
