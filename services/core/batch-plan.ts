// What a batch would do. Pure: found files in, items and skipped files (each with its reason) and an estimate out.
// Invariant: every found file is either an item or skipped with a reason, never both, never neither.

export interface FoundFile {
  /** Absolute path as the user will see it. */
  readonly path: string;
  readonly bytes: number;
  /** Why it cannot be read at all (permission, a link that leaves the roots), or null. */
  readonly refused: string | null;
  /** Its content was found to be a recording already: the name does not matter. */
  readonly recording?: true;
}

export interface PlannedItem {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

export interface BatchPlan {
  readonly items: readonly PlannedItem[];
  readonly skipped: readonly SkippedFile[];
  readonly count: number;
  readonly estimateSeconds: number;
}

/** What earlier transcriptions took, and how many run at once. */
interface Pace {
  /** Finished transcriptions looked at, their bytes and the time a worker spent on them. */
  readonly finished: number;
  readonly bytes: number;
  readonly workMs: number;
  /** Items that run at the same time (living workers x concurrency), at least 1. */
  readonly lanes: number;
}

const RECORDING_ENDINGS = [
  "wav wave mp3 m4a m4b mp4 m4v mov aac flac ogg oga ogv opus webm weba mka mkv avi wma wmv amr 3gp 3g2 aif aiff caf",
  "mpg mpeg mpga mp2 ts mts m2ts flv f4v ac3 au",
].flatMap((line) => line.split(" "));

const ENDINGS = new Set(RECORDING_ENDINGS);
const MAX_ITEMS = 50_000;

/** The ending of a file name in small letters, without the dot; "" when there is none. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Why this file is no item, or null when it is one. */
function skipReason(file: FoundFile, maxBytes: number): string | null {
  if (file.refused !== null) return file.refused;
  const ending = endingOf(nameOf(file.path));
  if (file.recording !== true && !ENDINGS.has(ending)) {
    return ending === "" ? "not a recording (no file ending)" : `not a recording (.${ending})`;
  }
  if (file.bytes === 0) return "the file is empty";
  if (file.bytes > maxBytes) return `larger than the limit of ${maxBytes} bytes`;
  return null;
}

/** Sorts found files into items and skipped, in order of path, a path once. */
export function planBatch(found: readonly FoundFile[], limits: { readonly maxBytes: number }, pace: Pace): BatchPlan {
  const items: PlannedItem[] = [];
  const skipped: SkippedFile[] = [];
  const seen = new Set<string>();
  for (const file of inNaturalOrder(found)) {
    if (seen.has(file.path)) continue;
    seen.add(file.path);
    let reason = skipReason(file, limits.maxBytes);
    if (reason === null && items.length >= MAX_ITEMS) reason = `a batch holds at most ${MAX_ITEMS} items`;
    if (reason === null) items.push({ path: file.path, name: nameOf(file.path), bytes: file.bytes });
    else skipped.push({ path: file.path, reason });
  }
  return { items, skipped, count: items.length, estimateSeconds: estimateSeconds(items, pace) };
}

/** Bytes a second a first guess assumes: 16 kHz speech as PCM, transcribed as fast as it was spoken. */
const GUESS_BYTES_PER_S = 32_000;

/** How long the items would take together, seconds; 0 only without items. */
export function estimateSeconds(items: readonly PlannedItem[], pace: Pace): number {
  if (items.length === 0) return 0;
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
  const known = pace.finished >= 3 && pace.workMs > 0 && pace.bytes > 0;
  // Half by size, half by number: small files cost their start, long ones their length.
  const workS = known
    ? (bytes * (pace.workMs / pace.bytes) + items.length * (pace.workMs / pace.finished)) / 2_000
    : bytes / GUESS_BYTES_PER_S;
  return Math.max(1, Math.round(workS / Math.max(1, Math.min(pace.lanes, items.length))));
}

/**
 * v2.wav before v10.wav, whatever the case. By a key made once a file: a collator takes seconds over a hundred thousand.
 */
function inNaturalOrder(found: readonly FoundFile[]): readonly FoundFile[] {
  const keyOf = (path: string) => path.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, "0"));
  return found
    .map((file) => ({ file, key: `${keyOf(file.path)}\u0000${file.path}` }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ file }) => file);
}
