// How many requests of one account this process works on at once: the others of that account wait, and nobody else's.
// What is shared (connections to the database, memory for large answers, the event loop) is so never all one member's.
// While somebody else asks too it is less, and whoever has had much lately goes one by one with rests: processors are not
// handed out by us, so the only share of them to give is how much of one member's work there is at a time.
// Invariant: a place is given back once, when the answer has gone out or its client has left, at the latest after a rest.

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
/** Beside others, whoever's requests took so long in sum lately (half of it is forgotten every HALF_MS) rests after each. */
const MUCH_MS = 1_500;
const HALF_MS = 5_000;
const FORGOTTEN_MS = 60_000;
/** A rest's length, in lengths of the request before it: the machine's own load makes it longer. */
const REST = 4;
const MOST_REST_MS = 2_000;

interface Asker {
  askedAt: number;
  usedMs: number;
  usedAt: number;
  readonly line: ReturnType<typeof createWaitingLine>;
}

/** Every request of an account to a route that is added to `app` afterwards waits for a place. */
export function holdPlaces(app: FastifyInstance, deps: Pick<WebDeps, "db" | "clock">): void {
  const { clock } = deps;
  const most = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor(deps.db.counts().max / 2)));
  const full = () => failure("limit.requests", {}, { data: { retryAfterS: 1 } });
  /** The one that asked last is at the end. */
  const askers = new Map<string, Asker>();
  /** Who asked last, and when another one last did before that. */
  let last = { id: "", at: 0 };
  let otherAt = Number.NEGATIVE_INFINITY;

  const isBeside = () => clock.monotonicMs() - otherAt < BESIDE_MS;
  const usedMs = (asker: Asker) => asker.usedMs * 0.5 ** ((clock.monotonicMs() - asker.usedAt) / HALF_MS);
  const mustRest = (asker: Asker) => isBeside() && usedMs(asker) > MUCH_MS;

  function newAsker(): Asker {
    const atOnce = () => (!isBeside() ? most : mustRest(asker) ? 1 : Math.min(most, MOST_BESIDE_OTHERS));
    const line = createWaitingLine({ atOnce, inLine: MOST_IN_LINE }, full);
    const asker: Asker = { askedAt: 0, usedMs: 0, usedAt: 0, line };
    return asker;
  }

  function noteAsking(id: string): Asker {
    const now = clock.monotonicMs();
    if (last.id !== id && last.id !== "") otherAt = last.at;
    last = { id, at: now };
    const asker = askers.get(id) ?? newAsker();
    asker.askedAt = now;
    askers.delete(id);
    askers.set(id, asker);
    for (const [old, { askedAt, line }] of askers) {
      if (now - askedAt < FORGOTTEN_MS) break;
      if (line.isEmpty) askers.delete(old);
    }
    return asker;
  }

  app.addHook("preHandler", async (request, reply) => {
    const id = request.account?.id;
    if (id === undefined || request.routeOptions.config.isLong) return;
    const asker = noteAsking(id);
    const leave = await asker.line.enter();
    const begunAt = clock.monotonicMs();
    const over = () => {
      const now = clock.monotonicMs();
      asker.usedMs = usedMs(asker) + (now - begunAt);
      asker.usedAt = now;
      if (!mustRest(asker)) leave();
      else clock.after(Math.min(REST * (now - begunAt), MOST_REST_MS), leave, { unref: true });
    };
    reply.raw.once("close", over);
    if (!reply.raw.closed) return;
    over();
    throw failure("request.invalid#broken");
  });
}
