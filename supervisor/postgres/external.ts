// A team's own PostgreSQL (`database.url`): asked whether it answers and is new enough, nothing else.

import { Client } from "pg";
import { OwlError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { type ConnectionLimits, readLimits } from "./limits.ts";

const OLDEST_MAJOR = 13;

/**
 * Resolves with the server's limits when it answers, trying for `boundMs` (it may be starting too).
 * Throws `database.unreachable` or `database.version`; the sentence names host and database, never the password.
 */
export async function checkExternal(
  url: string,
  clock: Clock,
  say: (message: string) => void,
  signal: AbortSignal,
  boundMs = 30_000,
): Promise<ConnectionLimits> {
  const startedMs = clock.monotonicMs();
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    try {
      return await ask(url);
    } catch (error) {
      if (error instanceof OwlError) throw error;
      const refusal = error as { code?: string; message?: string };
      // Wrong password, no such database or role: waiting changes nothing.
      const final = /^(28|3D)/.test(refusal.code ?? "") || refusal.code === "ENOTFOUND";
      if (final || clock.monotonicMs() - startedMs > boundMs) {
        throw new OwlError("database.unreachable", `${describe(url)} does not answer: ${reasonOf(error)}.`, {
          next: "Look at database.url in owl.yaml and at the server.",
        });
      }
      if (tries === 0) say(`Waiting for ${describe(url)}: ${reasonOf(error)}.`);
      await clock.sleep(500, signal);
    }
  }
}

async function ask(url: string): Promise<ConnectionLimits> {
  const client = new Client({
    connectionString: url,
    application_name: "owl/owld",
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const limits = await readLimits(client);
    if (limits.major >= OLDEST_MAJOR) return limits;
    throw new OwlError("database.version", `${describe(url)} is PostgreSQL ${limits.version}; Owl needs 13 or newer.`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Host and database of a URL, without its secret. */
function describe(url: string): string {
  const parts = URL.parse(url.replace("@/", "@localhost/"));
  if (!parts) return "The database of database.url";
  const host = parts.searchParams.get("host") ?? parts.host;
  return `The database ${decodeURIComponent(parts.pathname.slice(1)) || "(default)"} at ${decodeURIComponent(host)}`;
}

function reasonOf(error: unknown): string {
  // A refused connection to several addresses comes as an AggregateError without a message of its own.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const text = first instanceof Error ? first.message : String(first);
  return text || "no reason given";
}
