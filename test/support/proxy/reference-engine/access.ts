// The access log's entry of one exchange of the reference engine.

import type { IncomingMessage } from "node:http";
import type { Dispatch } from "../../../../supervisor/proxy/dispatch.ts";
import type { AccessEntry, EngineDeps } from "../../../../supervisor/proxy/engine.ts";
import { plainAddress } from "../../../../supervisor/proxy/trust.ts";

/** Writes it, if there is an access log. */
export function recordAccess(
  deps: EngineDeps,
  request: IncomingMessage,
  dispatch: Dispatch,
  figures: Pick<AccessEntry, "status" | "requestId" | "bytesIn" | "bytesOut">,
): void {
  deps.access?.({
    ...figures,
    method: request.method ?? "",
    host: request.headers.host ?? "",
    target: request.url ?? "",
    client: plainAddress(request.socket.remoteAddress ?? ""),
    service: dispatch.upstream?.service ?? null,
    upstream: dispatch.upstream?.id ?? null,
    retries: Math.max(0, dispatch.attempts - 1),
    elapsedMs: deps.clock.monotonicMs() - dispatch.startedAtMs,
  });
}
