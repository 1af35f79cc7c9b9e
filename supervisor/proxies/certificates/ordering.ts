// Runs the program that orders a certificate, and has the proxies show what it asks for.
// Invariant: when it is over, however, no proxy shows a challenge any more.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { OwlError } from "../../../config/errors.ts";
import type { Challenge } from "../../../config/proxy-feed.ts";
import type { FromOrder, OrderRequest, ToOrder } from "./order.ts";

const PROGRAM = fileURLToPath(new URL("order-once.ts", import.meta.url));

interface OrderingParts {
  readonly env: Readonly<Record<string, string>>;
  readonly challenge: (challenges: readonly Challenge[]) => Promise<void>;
}

/** Asks for one certificate: chain and key, PEM. Throws `certificate.failed` with the authority's words. */
export type Ordering = (request: OrderRequest, signal: AbortSignal) => Promise<string>;

export function createOrdering({ env, challenge }: OrderingParts): Ordering {
  return async (request, signal) => {
    // Killed when the signal says so: nothing it holds is lost, and it would hear of its end from its closed input too.
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: ["pipe", "pipe", "pipe"], signal });
    const ended = new Promise<Error>((resolve) => {
      child.once("error", resolve);
      child.once("close", (code, by) => resolve(new Error(`it ended (${by ?? code}) ${words.trim().slice(-300)}`)));
    });
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      words = (words + text).slice(-4_000);
    });
    // It may be gone already.
    child.stdin.on("error", () => undefined);
    const say = (message: ToOrder) => child.stdin.write(`${JSON.stringify(message)}\n`);
    let challenged = false;
    try {
      say({ type: "order", request });
      for await (const line of createInterface({ input: child.stdout })) {
        const message = JSON.parse(line) as FromOrder;
        if (message.type === "certificate") return message.pem;
        if (message.type === "failed") throw new OwlError("certificate.failed", message.why);
        challenged = true;
        await challenge(message.challenges);
        say({ type: "placed" });
      }
      signal.throwIfAborted();
      throw new OwlError("certificate.failed", (await ended).message);
    } finally {
      child.stdin.end();
      await ended;
      if (challenged && !signal.aborted) await challenge([]);
    }
  };
}
