// What a page shows, kept current: read at once, again when the event stream says that it moved (at most twice a
// second), after each new connection, and every few seconds as the floor under all that.
// Invariant: a failed reading leaves what was read before, and says so.

import { useEffect, useState } from "preact/hooks";
import type { Page } from "../../core/wire/parts.ts";
import { ApiError, call } from "./api.ts";
import { browserClock } from "./browser-time.ts";
import { liveReady, onLive } from "./events/live.ts";
import { failureText } from "./parts/failure.tsx";

export interface Resource<T> {
  readonly value: T | null;
  readonly failed: string | null;
  readonly missing: boolean;
  readonly refresh: () => void;
}

interface ReadOptions {
  /** Marks that mean this resource: `transcription` or `transcription:ID`. Without any the stream tells nothing of it. */
  readonly marks?: readonly string[];
  readonly pollMs?: number;
}

const QUIET_MS = 500;

/** Calls `read` whenever there may be something new while the page is looked at; `tell` says why one failed, or null. */
export function keepRead(
  read: (signal: AbortSignal) => Promise<void>,
  tell: (failed: string | null) => void,
  { marks = [], pollMs = 5_000 }: ReadOptions,
): () => void {
  const stop = new AbortController();
  let wake: () => void = () => undefined;
  let isDue = true;
  const due = (): void => {
    isDue = true;
    wake();
  };
  const leave = onLive((event) => {
    if (event.kind === "hello") due();
    if (event.kind === "changed" && (marks.includes(event.what) || marks.includes(`${event.what}:${event.id}`))) due();
  });
  const seen = (): void => {
    if (!document.hidden) due();
  };
  document.addEventListener("visibilitychange", seen);
  void (async () => {
    await liveReady();
    while (!stop.signal.aborted) {
      if (isDue && !document.hidden) {
        isDue = false;
        await read(stop.signal).then(
          () => tell(null),
          (error: unknown) => {
            if (!stop.signal.aborted) tell(failureText(error));
          },
        );
        await browserClock.sleep(QUIET_MS, stop.signal).catch(() => undefined);
      }
      if (stop.signal.aborted || (isDue && !document.hidden)) continue;
      await new Promise<void>((resolve) => {
        const cancel = browserClock.after(pollMs, due);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  })();
  return () => {
    document.removeEventListener("visibilitychange", seen);
    leave();
    stop.abort();
    wake();
  };
}

/** What is at `path` (null: nothing is asked). Another query of the same path shows what it was until the answer comes. */
export function useResource<T>(path: string | null, { marks = [], pollMs }: ReadOptions = {}): Resource<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [missing, setMissing] = useState(false);
  const [asked, setAsked] = useState(0);

  useEffect(() => {
    setValue(null);
    setMissing(false);
  }, [path?.split("?")[0]]);

  useEffect(() => {
    if (path === null) return;
    const read = async (signal: AbortSignal): Promise<void> => {
      try {
        setValue(await call<T>(path, { signal }));
      } catch (error) {
        if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 400)) throw error;
        setMissing(true);
      }
    };
    return keepRead(read, setFailed, { marks, pollMs });
  }, [path, marks.join(" "), pollMs, asked]);

  return { value, failed, missing, refresh: () => setAsked((now) => now + 1) };
}

/** All pages of a list, up to `limit` rows. */
export async function readAll<T>(path: string, limit = 50_000): Promise<readonly T[]> {
  const all: T[] = [];
  let next: string | null = null;
  do {
    const mark: string = next === null ? "" : `&next=${encodeURIComponent(next)}`;
    const page: Page<T> = await call<Page<T>>(`${path}${path.includes("?") ? "&" : "?"}limit=200${mark}`);
    all.push(...page.items);
    next = page.next;
  } while (next !== null && all.length < limit);
  return all;
}
