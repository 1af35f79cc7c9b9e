// Requests sent at a steady pace by a few keep-alive clients while something else happens; each one is counted.

import { Agent, request } from "node:http";
import { systemClock } from "../../config/system-time.ts";

export interface LoadFigures {
  readonly sent: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly ms: readonly number[];
}

export interface SteadyLoad {
  stop(): Promise<LoadFigures>;
}

/** GET (and every fourth time POST, when `post` is given) by `clients`, each pausing `pauseMs` in between. */
export function startSteadyLoad(
  port: number,
  wanted: {
    readonly path: string;
    readonly clients: number;
    readonly pauseMs: number;
    readonly cookie?: string;
    readonly post?: string;
  },
): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: wanted.clients });
  const ms: number[] = [];
  const failures: string[] = [];
  let sent = 0;
  let on = true;
  const one = async () => {
    for (let n = 1; on; n++) {
      sent += 1;
      const from = performance.now();
      const post = n % 4 === 0 && wanted.post !== undefined;
      const failure = await send(agent, {
        port,
        path: post ? (wanted.post ?? "") : wanted.path,
        method: post ? "POST" : "GET",
        cookie: wanted.cookie ?? "",
      });
      ms.push(performance.now() - from);
      if (failure !== null) failures.push(failure);
      await systemClock.sleep(wanted.pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: wanted.clients }, one));
  return {
    async stop() {
      on = false;
      await done;
      agent.destroy();
      return { sent, failed: failures.length, failures: [...new Set(failures)], ms };
    },
  };
}

function send(
  agent: Agent,
  to: { port: number; path: string; method: string; cookie: string },
): Promise<string | null> {
  return new Promise((resolve) => {
    const headers = {
      cookie: to.cookie,
      ...(to.method === "POST" ? { "content-length": "2", "content-type": "application/json" } : {}),
    };
    const sent = request(
      { host: "127.0.0.1", port: to.port, path: to.path, method: to.method, agent, headers, timeout: 30_000 },
      (response) => {
        response.resume();
        response.on("end", () => resolve((response.statusCode ?? 500) < 500 ? null : `status ${response.statusCode}`));
        response.on("error", (error) => resolve(error.message));
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("timeout")));
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(to.method === "POST" ? "{}" : undefined);
  });
}
