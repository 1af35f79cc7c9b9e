// What is wrong with a chosen file before a byte of it is sent: the server's own judgement, by content, made here.

import { isRecordingType } from "../../../core/recording-types.ts";

/** empty: nothing in it. type: neither audio nor video. Null: nothing that can be seen from here. */
export async function refusedBeforehand(file: Blob): Promise<"empty" | "type" | null> {
  if (file.size === 0) return "empty";
  const found = await import("file-type").then(
    ({ fileTypeFromBlob }) => fileTypeFromBlob(file),
    // Not loaded, or not readable here: the server judges.
    () => null,
  );
  if (found === null) return null;
  return found && isRecordingType(found.mime) ? null : "type";
}
