// When each of n streams is ended, so that their clients do not all come back in the same instant.

const STREAMS_PER_SECOND = 200;
const LONGEST_SPREAD_MS = 5_000;

/** Delay in ms of each of `count` endings: evenly over min(5 s, count / 200 per second). */
export function spreadDelays(count: number): readonly number[] {
  const spreadMs = Math.min(LONGEST_SPREAD_MS, (count / STREAMS_PER_SECOND) * 1_000);
  return Array.from({ length: count }, (_, index) => Math.floor((index * spreadMs) / count));
}
