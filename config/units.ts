// Durations and sizes as people write them (`500ms`, `5m`, `16KiB`) and as the program holds them (ms, bytes).
// Invariant: format(parse(text)) means the same amount as text.

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

export const DURATION_PATTERN = "^\\d+(\\.\\d+)?(ms|s|m|h|d)$";
export const SIZE_PATTERN = "^\\d+(\\.\\d+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$";

/** Milliseconds of `500ms`, `30s`, `5m`, `1h`, `2d`; null when it is none of these. */
export function parseDuration(text: string): number | null {
  return parse(text, DURATION_MS);
}

/** Bytes of `16KiB`, `1GiB`, `10MB`; null when it is none of these. */
export function parseSize(text: string): number | null {
  return parse(text, SIZE_BYTES);
}

function parse(text: string, factors: Readonly<Record<string, number>>): number | null {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text);
  const factor = match === null ? undefined : factors[match[2] ?? ""];
  if (match === null || factor === undefined) return null;
  const amount = Number(match[1]) * factor;
  // 2^53 is where amounts stop being exact; nothing anyone means lies beyond.
  return Number.isSafeInteger(Math.round(amount)) ? Math.round(amount) : null;
}

/** `500ms`, `330s`, `30m`, `1h`, exact; seconds up to ten minutes, for budgets are thought of in seconds. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms % DAY === 0) return `${ms / DAY}d`;
  if (ms % HOUR === 0) return `${ms / HOUR}h`;
  if (ms % MINUTE === 0 && ms >= 10 * MINUTE) return `${ms / MINUTE}m`;
  if (ms % 1_000 === 0) return `${ms / 1_000}s`;
  return `${ms}ms`;
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** `16KiB`, `1GiB`, `1.5GiB`: for people, at most one decimal. */
export function formatSize(bytes: number): string {
  for (const unit of ["TiB", "GiB", "MiB", "KiB"]) {
    const factor = SIZE_BYTES[unit] ?? 1;
    if (bytes >= factor) return `${Math.round((bytes / factor) * 10) / 10}${unit}`;
  }
  return `${bytes}B`;
}
