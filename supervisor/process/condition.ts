// Waiting until something holds, without polling: whoever changes a fact calls `changed`.

interface Condition {
  /** Looks at every waiting test again. */
  changed(): void;
  /** Resolves once `test` holds (at once when it does already); rejects with the signal's reason when aborted. */
  until(test: () => boolean, signal?: AbortSignal): Promise<void>;
}

export function createCondition(): Condition {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of [...waiting]) look();
    },
    until(test, signal) {
      return new Promise((resolve, reject) => {
        const finish = (end: () => void): void => {
          waiting.delete(look);
          signal?.removeEventListener("abort", abort);
          end();
        };
        const look = (): void => {
          try {
            if (test()) finish(resolve);
          } catch (error) {
            finish(() => reject(error));
          }
        };
        const abort = (): void => finish(() => reject(signal?.reason));
        waiting.add(look);
        if (signal?.aborted) return abort();
        signal?.addEventListener("abort", abort, { once: true });
        look();
      });
    },
  };
}
