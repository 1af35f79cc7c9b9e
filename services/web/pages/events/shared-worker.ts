// The browser's one event stream, shared by all its tabs (a browser opens six connections to a host at most).
// Invariant: it lives as long as one tab does and says everything to every tab.

import { browserClock, browserRandom, fetchWithClock } from "../browser-time.ts";
import { createFeed } from "./feed.ts";
import type { FeedMessage, TabMessage } from "./messages.ts";

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const ports = new Set<MessagePort>();
const feed = createFeed({
  clock: browserClock,
  random: browserRandom,
  fetch: fetchWithClock,
  tell(message: FeedMessage) {
    for (const port of ports) port.postMessage(message);
  },
});

(globalThis as unknown as SharedScope).onconnect = (event) => {
  const port = event.ports[0];
  if (!port) return;
  ports.add(port);
  port.onmessage = (message: MessageEvent<TabMessage>) => {
    if (message.data === "leave") ports.delete(port);
    else if (message.data === "signedOut") feed.stop();
    else feed.restart();
  };
  feed.start();
  // The tab takes its first picture of what it shows only after this: nothing falls between the two.
  port.postMessage({ kind: "status", status: feed.status() } satisfies FeedMessage);
};
