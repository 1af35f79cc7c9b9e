// What this browser keeps for its user between visits (drafts, seen marks, choices). Invariant: a browser that refuses
// storage (private mode, full) loses nothing but the keeping.

const PREFIX = "owl.";

/** The kept value, or `fallback` when there is none or it is not readable. */
export function readKept<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Keeps the value; null removes it. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Nothing to do: it is a comfort only.
  }
}

/** Calls `run` when another tab of this browser changed the key; the returned function ends it. */
export function onKept(key: string, run: () => void): () => void {
  const listener = (event: StorageEvent): void => {
    if (event.key === PREFIX + key) run();
  };
  // Absent where tests load this module outside a browser.
  globalThis.addEventListener?.("storage", listener);
  return () => removeEventListener("storage", listener);
}
