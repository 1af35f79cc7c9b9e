// The text of a PDF, Word, PowerPoint or Excel file, read in a child process. Invariant: whatever is in it, it costs at
// most 30 s, 768 MiB and 8 MiB of text, outside this process.

import { fileURLToPath } from "node:url";
import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import { runProgram } from "./program.ts";

const READER = fileURLToPath(new URL("document/main.ts", import.meta.url));
const LONGEST_MS = 30_000;
const MEMORY_BYTES = 768 * 2 ** 20;

/** Do the bytes begin as such a file does? (%PDF-, or an archive.) */
export function isDocument(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  return (a === 0x25 && b === 0x50 && c === 0x44 && d === 0x46) || (a === 0x50 && b === 0x4b && c === 3 && d === 4);
}

/** Throws `attachment.document` with what is wrong, `attachment.type` for an archive of another kind. */
export async function documentText(
  bytes: Uint8Array,
  clock: Clock,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const { signal } = new AbortController();
  const argv = [process.execPath, "--max-old-space-size=512", READER] as const;
  const { code, stdout, stderr } = await runProgram({
    argv: [...argv],
    signal,
    clock,
    timeoutMs: LONGEST_MS,
    input: bytes,
    memoryBytes: MEMORY_BYTES,
  }).catch((error: unknown) => {
    throw failure("attachment.document", { why: (error as Error).message }, { cause: error });
  });
  if (code !== 0) throw failure("attachment.document", { why: stderr.slice(-200) || `exit code ${code}` });
  const read = JSON.parse(stdout) as { readonly text: string; readonly isCut: boolean } | null;
  if (read === null) throw failure("attachment.type");
  const text = read.text.replaceAll("\u0000", "").toWellFormed();
  if (text.trim() === "") throw failure("attachment.document#empty");
  return { text, isCut: read.isCut };
}
