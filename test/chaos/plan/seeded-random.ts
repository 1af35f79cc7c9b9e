// Chance of a chaos run: the same seed gives the same run's plan. Never used for anything that must be hard to guess.

export interface SeededRandom {
  /** A float in [0, 1). */
  float(): number;
  /** A whole number in [from, to]. */
  whole(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
}

/** Mulberry32: small, fast, well spread; `seed` is any whole number. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const float = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number) => from + Math.floor(float() * (to - from + 1));
  return {
    float,
    whole,
    pick<T>(list: readonly T[]): T {
      const one = list[whole(0, list.length - 1)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
  };
}
