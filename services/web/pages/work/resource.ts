// What a page of long work shows, kept current: read at once, again when the event stream says that it moved (at most
// twice a second), after each new connection, and every few seconds as the floor under all that.
// Invariant: a failed reading leaves what was read before, and says so.

import { useEffect, useState } from "preact/hooks";
import { ApiError, call, type ListPage } from "../api.ts";
import { browserClock } from "../browser-time.ts";
import { liveReady, onLive } from "../events/live.ts";
import { failureText } from "../parts/failure.tsx";

interface Resource<T> {
  readonly value: T | null;
  readonly failed: string | null;
  readonly missing: boolean;
  readonly refresh: () => void;
}

interface ResourceOptions {
  /** Marks that mean this resource: `transcription` or `transcription:ID`. */
  readonly marks: readonly string[];
  readonly pollMs?: number;
}

const QUIET_MS = 500;

export function useResource<T>(path: string | null, { marks, pollMs = 5_000 }: ResourceOptions): Resource<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [missing, setMissing] = useState(false);
  const [asked, setAsked] = useState(0);

  useEffect(() => {
    setValue(null);
    setMissing(false);
  }, [path]);

  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let wake: () => void = () => undefined;
    let isDue = true;
    const due = (): void => {
      isDue = true;
      wake();
    };
    const leave = onLive((event) => {
      if (event.kind === "hello") due();
      if (event.kind === "changed" && (marks.includes(event.what) || marks.includes(`${event.what}:${event.id}`)))
        due();
    });
    void (async () => {
      await liveReady();
      while (!stop.signal.aborted) {
        if (isDue && !document.hidden) {
          isDue = false;
          try {
            setValue(await call<T>(path, { signal: stop.signal }));
            setFailed(null);
          } catch (error) {
            if (stop.signal.aborted) return;
            if (error instanceof ApiError && (error.status === 404 || error.status === 400)) setMissing(true);
            else setFailed(failureText(error));
          }
          await browserClock.sleep(QUIET_MS, stop.signal).catch(() => undefined);
        }
        if (isDue && !document.hidden) continue;
        await new Promise<void>((resolve) => {
          const cancel = browserClock.after(pollMs, () => {
            isDue = true;
            resolve();
          });
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
    })();
    const seen = (): void => {
      if (!document.hidden) due();
    };
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      leave();
      stop.abort();
      wake();
    };
  }, [path, marks.join(" "), pollMs, asked]);

  return { value, failed, missing, refresh: () => setAsked((now) => now + 1) };
}

/** All pages of a list, up to `limit` rows. */
export async function readAll<T>(path: string, limit = 50_000): Promise<readonly T[]> {
  const all: T[] = [];
  let next: string | null = null;
  do {
    const mark: string = next === null ? "" : `&next=${encodeURIComponent(next)}`;
    const page: ListPage<T> = await call<ListPage<T>>(`${path}${path.includes("?") ? "&" : "?"}limit=200${mark}`);
    all.push(...page.items);
    next = page.next;
  } while (next !== null && all.length < limit);
  return all;
}
