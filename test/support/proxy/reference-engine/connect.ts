// Connecting to an upstream within the limit. On failure no byte can have reached it.
// A full backlog on a Unix socket (EAGAIN) is a failure like any other; on TCP only the limit ends the wait.

import { connect as netConnect, type OnReadOpts, type Socket } from "node:net";
import type { Clock } from "../../../../config/time.ts";
import type { ConnectFailure } from "../../../../supervisor/proxy/core/retry-table.ts";
import type { Upstream } from "../../../../supervisor/proxy/upstreams.ts";

interface ConnectOutcome {
  connected(socket: Socket): void;
  failed(failure: ConnectFailure, message: string): void;
}

/** Starts connecting; exactly one of `outcome`'s functions is called, unless the returned cancel came first. */
export function connectUpstream(
  upstream: Pick<Upstream, "target">,
  limitMs: number,
  clock: Clock,
  outcome: ConnectOutcome,
  onread?: OnReadOpts,
): () => void {
  const options = onread === undefined ? {} : { onread };
  const { target } = upstream;
  const socket =
    "socket" in target
      ? netConnect({ path: target.socket, ...options })
      : netConnect({ host: target.host, port: target.port, noDelay: true, ...options });
  let settled = false;
  // After a busy moment of ours the timer comes before the connection that has long been made: look once more first.
  const cancelTimer = clock.after(limitMs, () => setImmediate(giveUp));
  const giveUp = () => {
    if (settle()) {
      socket.destroy();
      outcome.failed("timedOut", `no connection within ${limitMs} ms`);
    }
  };
  const onError = (error: Error) => {
    if (settle()) {
      socket.destroy();
      outcome.failed("refused", error.message);
    }
  };
  const onConnect = () => {
    if (!settle()) return;
    socket.removeListener("error", onError);
    outcome.connected(socket);
  };
  socket.once("connect", onConnect);
  socket.on("error", onError);
  function settle(): boolean {
    if (settled) return false;
    settled = true;
    cancelTimer();
    socket.removeListener("connect", onConnect);
    return true;
  }
  return () => {
    if (settle()) socket.destroy();
  };
}
