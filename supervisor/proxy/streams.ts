// Moving event streams and tunnels away from an upstream, or from this process: ended one by one, spread over time.

import type { Clock } from "../../config/time.ts";
import { spreadDelays } from "./core/stream-spread.ts";
import type { Counters } from "./counters.ts";
import type { Upstream } from "./upstreams.ts";

/** Ends every stream of these upstreams that is still open when its turn comes. */
export function moveStreams(upstreams: Iterable<Upstream>, clock: Clock, counters: Counters): void {
  const open = [...upstreams].flatMap((upstream) => [...upstream.streams].map((stream) => ({ upstream, stream })));
  const delays = spreadDelays(open.length);
  open.forEach(({ upstream, stream }, index) => {
    const end = () => {
      // One that its upstream ended meanwhile has had its own last bytes passed on.
      if (!upstream.streams.has(stream)) return;
      counters.streamsMoved++;
      stream.move();
    };
    const delay = delays[index] ?? 0;
    if (delay === 0) end();
    else clock.after(delay, end);
  });
}
