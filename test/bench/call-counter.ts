// What a playbook's steps call in a benchmark: counts what arrives by Idempotency-Key (run and step), and takes `ms` for it.

import { createServer } from "node:http";
import { systemClock } from "../../config/system-time.ts";
import { listenOnLoopback } from "../chaos/outside/listen-on-loopback.ts";

export interface CallCounter {
  readonly url: string;
  /** When each call of a key arrived. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
  stop(): void;
}

export async function startCallCounter(): Promise<CallCounter> {
  const calls = new Map<string, number[]>();
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const key = String(request.headers["idempotency-key"]);
    calls.set(key, [...(calls.get(key) ?? []), performance.now()]);
    await systemClock.sleep(Number(new URL(request.url ?? "/", "http://counter").searchParams.get("ms")));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
