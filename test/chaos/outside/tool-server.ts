// The tools a playbook calls over HTTP (a request, a ticket's webhook). It counts every call by what the step names
// (`tag`), at the moment it arrives, whether or not anybody still waits for the answer.

import { createServer } from "node:http";
import { systemClock } from "../../../config/system-time.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";

export interface ToolServer {
  readonly url: string;
  /** Calls by tag. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
  stop(): Promise<void>;
}

export async function startToolServer(): Promise<ToolServer> {
  const calls = new Map<string, number[]>();
  const server = createServer(async (request, response) => {
    for await (const _ of request) {
      // The body says nothing that the address does not.
    }
    const url = new URL(request.url ?? "/", "http://tools");
    const tag = url.searchParams.get("tag") ?? "";
    calls.set(tag, [...(calls.get(tag) ?? []), systemClock.now()]);
    await systemClock.sleep(Number(url.searchParams.get("ms") ?? 0));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: `T-${tag}` }));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
