// The optional loopback port for Prometheus (`proxy.metrics`): GET /metrics and nothing else.

import type { Server } from "node:http";
import type { ListenAddress } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { createServer } from "../../config/http.ts";

interface MetricsListener {
  /** Rejects with `listen.taken` when the port is another's. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createMetricsListener(
  address: ListenAddress,
  text: () => Promise<string>,
  failed: (error: Error) => void,
): MetricsListener {
  let server: Server | null = null;
  return {
    async start() {
      const made = createServer((request, response) => {
        const answer = (status: number, body: string): void => {
          response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(body);
        };
        if (request.method !== "GET" || request.url?.split("?")[0] !== "/metrics") {
          answer(404, "GET /metrics\n");
          return;
        }
        text().then(
          (body) => answer(200, body),
          (error: unknown) => {
            failed(asError(error));
            answer(500, "The metrics could not be read; owld's log says why.\n");
          },
        );
      });
      await new Promise<void>((resolve, reject) => {
        made.once("error", (cause: NodeJS.ErrnoException) =>
          reject(
            new OwlError(
              "listen.taken",
              `Metrics cannot be served on ${address.host}:${address.port}: ${cause.code}.`,
              {
                next: "Choose another port: proxy.metrics in owl.yaml.",
                cause,
              },
            ),
          ),
        );
        made.listen(address.port, address.host, resolve);
      });
      server = made;
    },
    async stop() {
      const closing = server;
      server = null;
      if (closing === null) return;
      const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
      closing.closeAllConnections();
      await closed;
    },
  };
}
