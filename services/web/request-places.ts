// How many requests of one account this process works on at once: the others of that account wait, and nobody else's.
// What is shared (connections to the database, memory for large answers, the event loop) is so never all one member's; and
// while somebody else asks too it is less, so that the processors have few of one member's requests to share out.
// Invariant: a place is given back when the answer has gone out or its client has left.

import type { FastifyInstance } from "fastify";
import { failure } from "../core/wire/errors.ts";
import type { WebDeps } from "./deps.ts";
import { createWaitingLine } from "./waiting-line.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Takes as long as its client likes (a stream, a file on its way) and is bounded otherwise: it needs no place. */
    isLong?: true;
  }
}

const MOST_AT_ONCE = 8;
/** One more than the searches of an account: its own questions do not wait for those. */
const MOST_BESIDE_OTHERS = 3;
const BESIDE_MS = 2_000;
const MOST_IN_LINE = 500;

/** Every request of an account to a route that is added to `app` afterwards waits for a place. */
export function holdPlaces(app: FastifyInstance, deps: Pick<WebDeps, "db" | "clock">): void {
  const most = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor(deps.db.counts().max / 2)));
  /** Who asked within the last moments, the last one at the end. */
  const asking = new Map<string, number>();
  const atOnce = () => (asking.size > 1 ? Math.min(most, MOST_BESIDE_OTHERS) : most);
  const bounds = { atOnce, inLine: MOST_IN_LINE };
  const full = () => failure("limit.requests", {}, { data: { retryAfterS: 1 } });
  const lines = new Map<string, ReturnType<typeof createWaitingLine>>();

  function noteAsking(id: string): void {
    const now = deps.clock.monotonicMs();
    asking.delete(id);
    asking.set(id, now);
    for (const [old, at] of asking) {
      if (now - at < BESIDE_MS) break;
      asking.delete(old);
    }
  }

  app.addHook("preHandler", async (request, reply) => {
    const id = request.account?.id;
    if (id === undefined || request.routeOptions.config.isLong) return;
    noteAsking(id);
    const line = lines.get(id) ?? createWaitingLine(bounds, full);
    lines.set(id, line);
    const leave = await line.enter();
    const over = () => {
      leave();
      if (line.isEmpty && lines.get(id) === line) lines.delete(id);
    };
    reply.raw.once("close", over);
    if (!reply.raw.closed) return;
    over();
    throw failure("request.invalid#broken");
  });
}
