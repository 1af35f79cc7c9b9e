// The worker's own socket: /readyz and /healthz for owld's checks, nothing else.

import { rm } from "node:fs/promises";
import type { Server } from "node:http";
import { createServer } from "../../config/http.ts";

interface ReadySocket {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Serves on the Unix socket or address `where` (null: nothing). `notReady` tells why not, or null. */
export function createReadySocket(
  where: string | { readonly host: string; readonly port: number } | null,
  notReady: () => string | null,
): ReadySocket {
  let server: Server | null = null;
  return {
    async start() {
      if (where === null || server) return;
      if (typeof where === "string") await rm(where, { force: true });
      const created = createServer((request, response) => {
        const reason = request.url === "/healthz" ? null : notReady();
        const known = request.url === "/readyz" || request.url === "/healthz";
        response.writeHead(known ? (reason === null ? 200 : 503) : 404, { "content-type": "application/json" });
        response.end(JSON.stringify(known ? { ready: reason === null, reason } : {}));
      });
      await new Promise<void>((resolve, reject) => {
        created.once("error", reject);
        created.listen(typeof where === "string" ? { path: where } : where, resolve);
      });
      server = created;
    },
    async stop() {
      const open = server;
      server = null;
      if (!open) return;
      open.closeAllConnections();
      await new Promise((resolve) => open.close(resolve));
    },
  };
}
