// A loopback port nobody listens on. Invariant: each is asked of the kernel, which gives the same one again only late.

import { createServer } from "node:net";
import { OwlError } from "../../config/errors.ts";

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (cause) =>
      reject(new OwlError("spawn.failed", "No free loopback port was found.", { cause })),
    );
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
