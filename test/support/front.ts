// A plain TCP door to web sockets, for browsers in tests that need no Owl proxy. `target` may change at any time:
// new connections go to the new one, `cut` breaks those that are open without a word.

import { createServer, connect as dial, type Socket } from "node:net";

export interface Front {
  readonly port: number;
  readonly url: string;
  /** Where new connections go; null: they are refused. */
  target: string | null;
  /** Request lines that passed, such as `GET /api/events`. */
  readonly requests: readonly string[];
  /** Breaks every open connection. */
  cut(): void;
  /** While true, nothing passes in either direction and nothing is closed. */
  frozen: boolean;
  stop(): Promise<void>;
}

export async function startFront(target: string | null): Promise<Front> {
  const open = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((near) => {
    if (front.target === null) return near.destroy();
    const far = dial(front.target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("data", (chunk) => {
        const line = from === near ? /^([A-Z]+ \S+) HTTP\/1\.1\r\n/.exec(chunk.toString("latin1")) : null;
        if (line?.[1]) requests.push(line[1]);
        if (!front.frozen) to.write(chunk);
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const front: Front = {
    port,
    url: `http://127.0.0.1:${port}`,
    target,
    requests,
    frozen: false,
    cut() {
      for (const socket of open) socket.destroy();
    },
    stop() {
      front.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return front;
}
