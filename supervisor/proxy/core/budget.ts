// What a client may do often, but not without end: so many at once, and then so many a second.

export class Budget {
  readonly #most: number;
  readonly #perS: number;
  #left: number;
  #atMs: number;

  constructor(most: number, perS: number, nowMs: number) {
    this.#most = most;
    this.#perS = perS;
    this.#left = most;
    this.#atMs = nowMs;
  }

  /** Takes one; false: there was none. */
  spend(nowMs: number): boolean {
    this.#left = Math.min(this.#most, this.#left + ((nowMs - this.#atMs) / 1_000) * this.#perS);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
