// The pages' side of the event stream: the shared worker where there is one, else a stream of the tab's own.
// Invariant: `ready` resolves only once this tab hears everything, so that a picture taken after it misses nothing.

import { browserClock, browserRandom, fetchWithClock } from "../browser-time.ts";
import { createStore, type Store } from "../store.ts";
import { createFeed } from "./feed.ts";
import type { FeedEvent, FeedMessage, FeedStatus, TabMessage } from "./messages.ts";

type Listener = (event: FeedEvent) => void;

const listeners = new Set<Listener>();
export const feedStatus: Store<FeedStatus> = createStore<FeedStatus>({
  state: "connecting",
  attempt: 0,
  nextTryAt: null,
  build: null,
});

let tellWorker: ((message: TabMessage) => void) | null = null;
let heard: () => void = () => undefined;
let started = false;
/** Resolves when this tab is connected to the feed (or after 1.5 s, when the feed's own words will do). */
let ready: Promise<void> = Promise.resolve();

function receive(message: FeedMessage): void {
  heard();
  if (message.kind === "status") feedStatus.set(message.status);
  else for (const listener of [...listeners]) listener(message.event);
}

/** Begins listening (after signing in); again after a sign-out. */
export function startLive(): void {
  if (started) {
    tellWorker?.("restart");
    return;
  }
  started = true;
  ready = new Promise((resolve) => {
    heard = resolve;
    browserClock.after(1_500, resolve);
  });
  tellWorker = viaSharedWorker() ?? viaOwnFeed();
}

/** Nobody is signed in any more: the stream stays closed until `startLive`. */
export function stopLive(): void {
  tellWorker?.("signedOut");
}

export const liveReady = (): Promise<void> => ready;

export function onLive(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tries at once instead of at the next try. */
export function retryLive(): void {
  tellWorker?.("restart");
}

function viaSharedWorker(): ((message: TabMessage) => void) | null {
  const url = document.querySelector<HTMLMetaElement>('meta[name="owl-worker"]')?.content;
  if (typeof SharedWorker === "undefined" || !url) return null;
  try {
    const worker = new SharedWorker(url, { type: "module", name: "owl-events" });
    worker.port.onmessage = (event: MessageEvent<FeedMessage>) => receive(event.data);
    worker.port.start();
    const send = (message: TabMessage): void => worker.port.postMessage(message);
    // A frozen tab that comes back hears nothing of what it missed: pagehide leaves, pageshow reloads the picture.
    addEventListener("pagehide", () => send("leave"));
    return send;
  } catch {
    return null;
  }
}

function viaOwnFeed(): (message: TabMessage) => void {
  const feed = createFeed({
    clock: browserClock,
    random: browserRandom,
    fetch: fetchWithClock,
    tell: receive,
  });
  feed.start();
  return (message) => {
    if (message === "signedOut") feed.stop();
    else if (message === "restart") feed.restart();
  };
}
